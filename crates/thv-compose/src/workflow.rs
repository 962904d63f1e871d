//! A definition as a whole.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Map, Value};
use thv_api::kinds::VirtualMCPCompositeToolDefinitionSpec;
use thv_api::shared::ToolAnnotations;

use crate::error_handling::duration;
use crate::findings::{Findings, Invalid, Note, Rule};
use crate::limits::{DEFAULT_TIMEOUT, MAX_PORTABLE_NAME, MAX_STEPS, MAX_TOKENS};
use crate::output::{self, Output};
use crate::references::{self, Site, Use};
use crate::schema;
use crate::step::{self, Step};
use crate::template::Template;

/// A composite tool that is valid.
#[derive(Debug)]
pub struct Workflow {
    name: String,
    description: String,
    parameters: Option<Map<String, Value>>,
    timeout: Duration,
    steps: Vec<Step>,
    order: Vec<usize>,
    output: Option<Output>,
    annotations: Option<ToolAnnotations>,
    notes: Vec<Note>,
}

impl Workflow {
    /// Validates a definition. As an error, everything that is wrong with it; that is never nothing.
    pub fn new(definition: &VirtualMCPCompositeToolDefinitionSpec) -> Result<Self, Vec<Invalid>> {
        let VirtualMCPCompositeToolDefinitionSpec {
            name,
            description,
            parameters,
            timeout,
            steps,
            output,
            annotations,
        } = definition;
        let mut validation = Validation::default();
        let description = description.as_deref().unwrap_or_default();
        head(&mut validation.findings, name, description, steps.len());
        let parameters = parameters.as_ref().map(|parameters| &parameters.0).filter(|it| !it.is_empty());
        if let Some(parameters) = parameters {
            check_parameters(&mut validation.findings, parameters);
        }
        let timeout = duration(&mut validation.findings, "timeout", timeout.as_ref());
        if steps.len() > MAX_STEPS {
            // What is wrong with the steps is bounded by how many there may be.
            return Err(validation.findings.finish().err().unwrap_or_default());
        }
        let read: Vec<Option<Step>> = steps
            .iter()
            .enumerate()
            .map(|(number, one)| step::step(&mut validation, number, &format!("steps[{number}]"), one))
            .collect();
        let output = output.as_ref().map(|output| output::read(&mut validation, output));
        let Validation { mut findings, tokens: _, uses } = validation;
        let graph = references::dependencies(&mut findings, definition, &uses);
        let notes = findings.finish()?;
        let steps = read
            .into_iter()
            .enumerate()
            .filter_map(|(number, step)| step.map(|step| Step { needs: graph.needed(number), ..step }));
        Ok(Self {
            name: name.clone(),
            description: description.to_owned(),
            parameters: parameters.cloned(),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            // None is left out: each that could not be read has been told.
            steps: steps.collect(),
            order: graph.order(),
            output,
            annotations: annotations.clone(),
            notes,
        })
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the tool does, for clients.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What the tool takes, as a JSON Schema.
    pub const fn parameters(&self) -> Option<&Map<String, Value>> {
        self.parameters.as_ref()
    }

    /// How long all of it may take.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The steps, in the order of the definition.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The places of the steps in [`Workflow::steps`], each after those of the steps that it waits for.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// What the tool returns. Without it, what the last step does.
    pub const fn output(&self) -> Option<&Output> {
        self.output.as_ref()
    }

    /// Hints for clients.
    pub const fn annotations(&self) -> Option<&ToolAnnotations> {
        self.annotations.as_ref()
    }

    /// What is not wrong, and probably not what was meant.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

fn head(findings: &mut Findings, name: &str, description: &str, steps: usize) {
    findings.unless(!name.is_empty(), "name", "is empty: set it");
    if name.chars().count() > MAX_PORTABLE_NAME {
        let message =
            format!("has more than {MAX_PORTABLE_NAME} characters: some clients refuse such a tool");
        findings.note("name", message);
    }
    findings.unless(!description.is_empty(), "description", "is empty: say what the tool does, for clients");
    findings.unless(steps > 0, "steps", "is empty: a composite tool needs a step at least");
    findings.unless(
        steps <= MAX_STEPS,
        "steps",
        format!("has {steps} steps: {MAX_STEPS} are the most there may be"),
    );
}

fn check_parameters(findings: &mut Findings, parameters: &Map<String, Value>) {
    if parameters.get("type").and_then(Value::as_str) != Some("object") {
        findings.error(
            Rule::Schema,
            "parameters.type",
            "has to be object: tools take their arguments by name",
        );
    }
    schema::check(findings, "parameters", parameters);
}

/// A validation that goes on.
#[derive(Debug)]
pub(crate) struct Validation {
    pub(crate) findings: Findings,
    /// How many tokens templates may still have.
    tokens: usize,
    /// What templates read.
    uses: Vec<Use>,
}

impl Default for Validation {
    fn default() -> Self {
        Self { findings: Findings::default(), tokens: MAX_TOKENS, uses: Vec::new() }
    }
}

impl Validation {
    /// Parses a template. What it reads is looked at when all steps are known.
    pub(crate) fn template(&mut self, site: Site, path: &str, text: &str) -> Option<Template> {
        match Template::parse(text, &mut self.tokens) {
            Ok((template, read)) => {
                let path: Rc<str> = path.into();
                self.uses.extend(read.into_iter().map(|data| Use { site, path: path.clone(), data }));
                Some(template)
            }
            Err(message) => {
                self.findings.error(Rule::Template, path, message);
                None
            }
        }
    }
}
