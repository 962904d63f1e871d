//! What templates read of the data of a workflow: whether it is there, and which steps have to be done before.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};
use thv_api::kinds::{StepErrorAction, VirtualMCPCompositeToolDefinitionSpec, WorkflowStep};

use crate::findings::{Findings, Rule, shorten};
use crate::graph::{Cycle, Graph};
use crate::template::DataPath;

/// The name of the current item's number, below `.forEach`.
pub(crate) const INDEX: &str = "index";

/// How many steps are named of each end of a cycle.
const SHOWN: usize = 5;

/// Whose template it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Step(usize),
    /// The step that runs for each item of this one.
    Item(usize),
    Output,
}

/// Where a template is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    owner: Owner,
    /// Whether ToolHive, too, demands defaults for what may be missing. What it accepts we accept, and tell.
    is_strict: bool,
}

impl Site {
    pub(crate) const fn step(number: usize) -> Self {
        Self { owner: Owner::Step(number), is_strict: true }
    }

    pub(crate) const fn item(number: usize) -> Self {
        Self { owner: Owner::Item(number), is_strict: false }
    }

    pub(crate) const OUTPUT: Self = Self { owner: Owner::Output, is_strict: true };

    pub(crate) const fn lenient(self) -> Self {
        Self { is_strict: false, ..self }
    }
}

/// A template that reads something.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) site: Site,
    pub(crate) path: Rc<str>,
    pub(crate) data: DataPath,
}

/// The name of the current item of a `forEach`.
pub(crate) fn item_var(step: &WorkflowStep) -> &str {
    step.item_var.as_deref().filter(|name| !name.is_empty()).unwrap_or("item")
}

/// The steps of a definition, as far as references are about them.
struct Steps<'a> {
    all: &'a [WorkflowStep],
    by_id: BTreeMap<&'a str, usize>,
}

/// Which step waits for which. Told are names that are not there, steps that wait for themselves, and outputs that may
/// be missing.
pub(crate) fn dependencies(
    findings: &mut Findings,
    definition: &VirtualMCPCompositeToolDefinitionSpec,
    uses: &[Use],
) -> Graph {
    let mut by_id = BTreeMap::new();
    for (number, step) in definition.steps.iter().enumerate() {
        if let Some(first) = by_id.get(step.id.as_str()).filter(|_| !step.id.is_empty()) {
            let message = format!("is the id of steps[{first}] as well: give each step its own");
            findings.wrong(format!("steps[{number}].id"), message);
        }
        by_id.entry(step.id.as_str()).or_insert(number);
    }
    let steps = Steps { all: &definition.steps, by_id };
    let mut graph = Graph::new(steps.all.len());
    steps.add_declared(findings, &mut graph);
    steps.add_read(findings, &mut graph, uses);
    for used in uses.iter().filter(|used| used.data.is_certain) {
        steps.check_names(findings, used);
    }
    steps.check_defaults(findings, uses);
    graph
}

impl Steps<'_> {
    fn number(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn id(&self, number: usize) -> String {
        self.all.get(number).map_or_else(String::new, |step| shorten(&step.id))
    }

    /// What steps say that they depend on.
    fn add_declared(&self, findings: &mut Findings, graph: &mut Graph) {
        for (number, step) in self.all.iter().enumerate() {
            for (index, id) in step.depends_on.iter().flatten().enumerate() {
                let path = format!("steps[{number}].dependsOn[{index}]");
                let Some(needed) = self.number(id) else {
                    findings.wrong(path, format!("there is no step {:?}", shorten(id)));
                    continue;
                };
                if let Err(Cycle(way)) = graph.add(number, needed) {
                    let message = format!("the step waits for itself: {}", self.way(number, &way));
                    findings.error(Rule::Cycle, path, message);
                }
            }
        }
    }

    /// The way around a cycle, from a step back to it. Of a long one, where it begins and ends.
    fn way(&self, number: usize, way: &[usize]) -> String {
        let mut ids: Vec<String> = [number].iter().chain(way).map(|step| self.id(*step)).collect();
        if ids.len() > 2 * SHOWN {
            ids.splice(SHOWN..ids.len() - SHOWN, ["…".to_owned()]);
        }
        ids.join(" → ")
    }

    /// What the templates of steps name.
    fn add_read(&self, findings: &mut Findings, graph: &mut Graph, uses: &[Use]) {
        let mut told = BTreeSet::new();
        for Use { site, path, data } in uses {
            let (Owner::Step(number) | Owner::Item(number)) = site.owner else {
                continue;
            };
            let Some(needed) = data.step().and_then(|id| self.number(id)) else {
                continue;
            };
            if graph.add(number, needed).is_err() && told.insert((number, needed)) {
                let message = format!(
                    "reads .steps.{}, which waits for this step: the step runs first, and finds nothing there",
                    self.id(needed),
                );
                findings.note(&**path, message);
            }
        }
    }

    /// Whether there is what a template reads.
    fn check_names(&self, findings: &mut Findings, Use { site, path, data }: &Use) {
        let mut names = data.names.iter().map(String::as_str);
        let problem = match (names.next(), names.next(), names.next()) {
            (Some("steps"), Some(id), _) if self.number(id).is_none() => {
                Some(format!("reads .steps.{}: there is no such step", shorten(id)))
            }
            (Some("steps"), Some(_), Some(name))
                if !matches!(name, "status" | "output" | "content" | "error") =>
            {
                Some(format!(
                    "reads {:?} of a step, which has status, output, content and error",
                    shorten(name)
                ))
            }
            (Some("forEach"), name, _) => match site.owner {
                Owner::Item(number) => {
                    let var = self.all.get(number).map_or("item", item_var);
                    let other = name.filter(|name| *name != var && *name != INDEX);
                    other.map(|name| {
                        format!("reads .forEach.{}: there are {} and {INDEX}", shorten(name), shorten(var))
                    })
                }
                Owner::Step(_) | Owner::Output => {
                    Some("reads .forEach, which only the step of a forEach can".to_owned())
                }
            },
            (Some("params" | "steps" | "vars" | "workflow") | None, ..) => None,
            (Some(other), ..) => Some(format!(
                "reads .{}, which is not there: there are .params, .steps and .workflow",
                shorten(other)
            )),
        };
        if let Some(message) = problem {
            findings.error(Rule::Template, &**path, message);
        }
    }

    /// Whether there is a default for what a template reads of a step that may have no output.
    fn check_defaults(&self, findings: &mut Findings, uses: &[Use]) {
        let mut told = BTreeSet::new();
        // What is told once is told as what it is at worst.
        let (strict, lenient): (Vec<&Use>, Vec<&Use>) =
            uses.iter().filter(|used| used.data.is_certain).partition(|used| used.site.is_strict);
        for Use { site, path, data } in strict.into_iter().chain(lenient) {
            let Some((id, field)) = data.output() else { continue };
            let Some((number, step)) = self.number(id).and_then(|it| Some((it, self.all.get(it)?))) else {
                continue;
            };
            let is_own = site.owner == Owner::Step(number) || site.owner == Owner::Item(number);
            let has_default = defaults(step).is_some_and(|results| results.contains_key(field));
            if is_own || has_default || !may_be_skipped(step) || !told.insert((number, field)) {
                continue;
            }
            let message = format!(
                "has no {:?}, which {path} reads: it is missing when the step is skipped or fails; add a default",
                shorten(field),
            );
            let at = format!("steps[{number}].defaultResults");
            if site.is_strict {
                findings.wrong(at, message);
            } else {
                findings.note(at, message);
            }
        }
    }
}

/// Whether the workflow goes on without the step.
fn may_be_skipped(step: &WorkflowStep) -> bool {
    let continues =
        step.on_error.as_ref().is_some_and(|handling| handling.action == StepErrorAction::Continue);
    continues || step.condition.as_ref().is_some_and(|condition| !condition.is_empty())
}

fn defaults(step: &WorkflowStep) -> Option<&Map<String, Value>> {
    step.default_results.as_ref().and_then(|results| results.0.as_object())
}

impl DataPath {
    /// The step that it is about.
    fn step(&self) -> Option<&str> {
        match self.names.as_slice() {
            [steps, id, ..] if steps == "steps" => Some(id),
            _ => None,
        }
    }

    /// The step and the field of its output that it is about.
    fn output(&self) -> Option<(&str, &str)> {
        match self.names.as_slice() {
            [steps, id, output, field, ..] if steps == "steps" && output == "output" => Some((id, field)),
            _ => None,
        }
    }
}
