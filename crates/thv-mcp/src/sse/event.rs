//! Events and their lines.

/// Finds where events end, however the stream was cut.
pub(crate) struct Splitter {
    /// Whether the line that is being read has nothing in it yet.
    at_line_start: bool,
    /// Whether a line feed would only complete the line end before it.
    after_return: bool,
}

impl Splitter {
    pub(crate) fn new() -> Self {
        Self { at_line_start: true, after_return: false }
    }

    /// How many bytes of `chunk` belong to the current event, if it ends within them. Otherwise all do.
    ///
    /// An event ends with the first byte of the line end that makes an empty line: whether a line feed follows a
    /// carriage return can be known only later, and who waits for the event should not wait for that. The line
    /// feed then opens the next event, where it means nothing.
    pub(crate) fn end(&mut self, chunk: &[u8]) -> Option<usize> {
        for (index, byte) in chunk.iter().enumerate() {
            let completes = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            match byte {
                b'\n' if completes => {}
                b'\n' | b'\r' if self.at_line_start => return Some(index + 1),
                b'\n' | b'\r' => self.at_line_start = true,
                _ => self.at_line_start = false,
            }
        }
        None
    }
}

/// A line of an event.
pub(crate) struct Line<'a> {
    /// Without its end.
    pub(crate) content: &'a [u8],
    /// LF, CR, CRLF, or nothing if the event is not complete.
    pub(crate) end: &'a [u8],
}

impl<'a> Line<'a> {
    /// What the line says, if its field has that name.
    pub(crate) fn value(&self, name: &str) -> Option<&'a [u8]> {
        let rest = self.content.strip_prefix(name.as_bytes())?;
        if rest.is_empty() {
            return Some(rest);
        }
        let value = rest.strip_prefix(b":")?;
        Some(value.strip_prefix(b" ").unwrap_or(value))
    }
}

/// The lines of an event.
pub(crate) fn lines(mut event: &[u8]) -> impl Iterator<Item = Line<'_>> {
    std::iter::from_fn(move || {
        if event.is_empty() {
            return None;
        }
        let length = event.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(event.len());
        let (content, rest) = event.split_at_checked(length)?;
        let end = if rest.starts_with(b"\r\n") { 2 } else { rest.len().min(1) };
        let (end, rest) = rest.split_at_checked(end)?;
        event = rest;
        Some(Line { content, end })
    })
}

/// The type of an event, if it has one.
pub(crate) fn name(event: &[u8]) -> Option<&[u8]> {
    lines(event).filter_map(|line| line.value("event")).last()
}

/// The data of an event: its data lines, joined by line feeds. Without any there is no event for anybody.
pub(crate) fn data(event: &[u8]) -> Option<Vec<u8>> {
    lines(event).filter_map(|line| line.value("data")).fold(None, |data, line| {
        let joined = data.map(|mut data: Vec<u8>| {
            data.push(b'\n');
            data
        });
        let mut joined = joined.unwrap_or_default();
        joined.extend_from_slice(line);
        Some(joined)
    })
}

/// The beginning of a stream without the byte order mark that may stand there.
pub(crate) fn without_mark(event: &[u8]) -> &[u8] {
    event.strip_prefix("\u{feff}".as_bytes()).unwrap_or(event)
}
