//! Kubernetes' own merge, in a program that `cargo xtask setup` builds from `tools/strategicpatch`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thv_testbed::{Assets, Tier};

use super::super::Schema;

/// One for all tests. It ends when its input does, which is when we end.
static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| Mutex::new(Program::start()));

struct Program {
    _child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Serialize)]
struct Question<'a> {
    r#type: &'static str,
    original: &'a Value,
    patch: &'a Value,
}

#[derive(Deserialize)]
struct Answer {
    result: Option<Value>,
    error: Option<String>,
}

/// What Kubernetes makes of two documents of a type. A panic there is an error here.
pub(super) fn merge(original: &Value, patch: &Value, schema: Schema) -> Result<Value, String> {
    let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    let question = Question { r#type: schema.name(), original, patch };
    writeln!(program.questions, "{}", serde_json::to_string(&question).unwrap()).unwrap();
    let mut line = String::new();
    program.answers.read_line(&mut line).unwrap();
    let answer: Answer = serde_json::from_str(&line).expect("strategicpatch answers each line with a line");
    match answer {
        Answer { result: Some(result), .. } => Ok(result),
        Answer { error: Some(error), .. } => {
            assert!(!error.starts_with("not a question"), "{error}");
            Err(error)
        }
        Answer { result: None, error: None } => panic!("strategicpatch gave neither a result nor an error"),
    }
}

impl Program {
    fn start() -> Self {
        let (found, _) = Assets::search(Tier::Api, None).unwrap();
        let path = found
            .path("strategicpatch")
            .expect("strategicpatch is not built: run `cargo xtask setup --tier api`");
        let mut command = Command::new(path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (questions, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { _child: child, questions, answers: BufReader::new(answers) }
    }
}
