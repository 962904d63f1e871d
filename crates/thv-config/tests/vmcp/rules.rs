//! Rules about servers, tools and operation: each accepts what is right and reports what is wrong.

use crate::support::{AUTH_SERVER, EVERY_KEY, MINIMAL, each_is_fine, each_is_refused, problems};

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let text =
        format!("{}passthroughHeaders: [Cookie]\n", MINIMAL.replace("demo", "''").replace("team", "' '"));
    assert_eq!(
        problems(&text, None),
        [
            "name: is empty: set it",
            "groupRef: is empty: set it",
            "passthroughHeaders[0]: must not be handed on: remove it; outgoingAuth says how to sign in",
        ]
    );
    assert_eq!(problems(EVERY_KEY, Some(AUTH_SERVER)), Vec::<String>::new());
}

#[test]
fn backends_have_a_name_of_their_own_and_an_address() {
    each_is_refused(&[
        ("- name: elsewhere", "- name: ''", "backends[0].name: is empty: set it"),
        ("- name: elsewhere", "- name: tracker", "backends[1].name: is there twice: keep one of them"),
        (
            "url: https://mcp.example.org/mcp",
            "url: mcp.example.org",
            "backends[0].url: is not a URL with a host: write it as https://host/path",
        ),
        (
            "url: https://mcp.example.org/mcp",
            "url: ftp://mcp.example.org",
            "backends[0].url: is neither an https nor an http URL",
        ),
        (
            "      type: entry\n",
            "",
            "backends[0].caBundlePath: is there, and the backend is no entry: write type: entry, or remove the path",
        ),
        (
            "caBundlePath: /etc/toolhive",
            "caBundlePath: toolhive",
            "backends[0].caBundlePath: is not an absolute path: begin it with /",
        ),
        (
            "caBundlePath: /etc/toolhive",
            "caBundlePath: /etc/../toolhive",
            "backends[0].caBundlePath: is not a plain path: write it without .. and without control characters",
        ),
        (
            "source: inline",
            "source: discovered",
            "backends: is there, and outgoingAuth.source is discovered: write source: inline, or remove the backends",
        ),
    ]);
    each_is_fine(&[("transport: sse", "transport: streamable-http"), ("type: entry\n", "type: 'entry'\n")]);
}

#[test]
fn the_order_of_priority_names_servers_whose_tools_can_be_seen() {
    each_is_refused(&[
        (
            "            - tracker\n    tools:",
            "            []\n    tools:",
            "aggregation.conflictResolutionConfig.priorityOrder: is empty, and conflictResolution is priority: name \
             the servers, most important first",
        ),
        (
            "            - tracker\n    tools:",
            "            - tracker\n            - tracker\n    tools:",
            "aggregation.conflictResolutionConfig.priorityOrder[1]: is there twice: keep one of them",
        ),
        (
            "            - tracker\n    tools:",
            "            - tracker\n            - elsewhere\n    tools:",
            "aggregation.conflictResolutionConfig.priorityOrder[1]: is not in aggregation.tools, and \
             defaultToolVisibility is deny: add it there, or remove it here",
        ),
    ]);
    each_is_fine(&[
        ("conflictResolution: priority", "conflictResolution: manual"),
        ("conflictResolution: priority", "conflictResolution: prefix"),
        ("defaultToolVisibility: deny", "defaultToolVisibility: allow"),
    ]);
}

#[test]
fn entries_about_tools_name_a_server_each_and_override_something() {
    let tools = "{tools: [{workload: a, filter: [''], overrides: {x: {}, y: {annotations: {}}, z: {name: Z}}}, \
                 {workload: a, overrides: {w: {annotations: {title: W}}}}, {workload: ''}]}";
    assert_eq!(
        problems(&MINIMAL.replace("{conflictResolution: prefix}", tools), None),
        [
            "aggregation.tools[1].workload: is there twice: keep one of them",
            "aggregation.tools[2].workload: is empty: set it",
            "aggregation.tools[0].filter[0]: is empty: set it",
            "aggregation.tools[0].overrides.x: overrides nothing: give a name, a description or annotations, or \
             remove it",
            "aggregation.tools[0].overrides.y: overrides nothing: give a name, a description or annotations, or \
             remove it",
        ]
    );
}

#[test]
fn composite_tools_have_names_of_their_own_and_objects_where_objects_belong() {
    let more = "compositeTools: [{name: a, parameters: [1]}, {name: a}, {steps: [{arguments: 1, schema: x, \
                defaultResults: true, step: {arguments: []}}]}]\ncompositeToolRefs: [{name: b}, {name: b}, {}]\n";
    assert_eq!(
        problems(&format!("{MINIMAL}{more}"), None),
        [
            "compositeTools[1].name: is there twice: keep one of them",
            "compositeTools[2].name: is empty: set it",
            "compositeToolRefs[1].name: is there twice: keep one of them",
            "compositeToolRefs[2].name: is empty: set it",
            "compositeTools[0].parameters: is not an object: write keys and values",
            "compositeTools[2].steps[0].arguments: is not an object: write keys and values",
            "compositeTools[2].steps[0].schema: is not an object: write keys and values",
            "compositeTools[2].steps[0].defaultResults: is not an object: write keys and values",
            "compositeTools[2].steps[0].step.arguments: is not an object: write keys and values",
        ]
    );
}

#[test]
fn timeouts_and_thresholds_leave_something_to_do() {
    each_is_refused(&[
        (
            "default: 45s",
            "default: -45s",
            "operational.timeouts.default: is not longer than nothing: give a duration such as 30s",
        ),
        (
            "tracker: 1m0s",
            "tracker: 0s",
            "operational.timeouts.perWorkload.tracker: is not longer than nothing: give a duration such as 30s",
        ),
        (
            "statusReportingInterval: 15s",
            "statusReportingInterval: -1s",
            "operational.failureHandling.statusReportingInterval: is not longer than nothing: give a duration such \
             as 30s",
        ),
        (
            "unhealthyThreshold: 4",
            "unhealthyThreshold: -4",
            "operational.failureHandling.unhealthyThreshold: is negative: give a number from 1, or leave it out",
        ),
        (
            "healthCheckTimeout: 20s",
            "healthCheckTimeout: 60s",
            "operational.failureHandling.healthCheckTimeout: is not shorter than healthCheckInterval: shorten it",
        ),
        (
            "healthCheckTimeout: 20s",
            "healthCheckTimeout: -1s",
            "operational.failureHandling.healthCheckTimeout: is negative: give a duration such as 30s, or leave it \
             out",
        ),
        (
            "failureThreshold: 6",
            "failureThreshold: -1",
            "operational.failureHandling.circuitBreaker.failureThreshold: is negative: give a number from 1, or leave \
             it out",
        ),
        (
            "timeout: 2m0s",
            "timeout: 999ms",
            "operational.failureHandling.circuitBreaker.timeout: is shorter than 1s: lengthen it, or leave it out",
        ),
    ]);
    each_is_fine(&[("timeout: 2m0s", "timeout: 1s"), ("healthCheckTimeout: 20s", "healthCheckTimeout: 0s")]);
}

#[test]
fn numbers_are_in_their_ranges() {
    each_is_refused(&[
        (
            "samplingRate: \"0.05\"",
            "samplingRate: '1.01'",
            "telemetry.samplingRate: is not a number from 0 to 1: correct it",
        ),
        (
            "maxDelegationDepth: 5",
            "maxDelegationDepth: -5",
            "audit.maxDelegationDepth: is negative: give a number from 1, or leave it out",
        ),
        (
            "maxDataSize: 2048",
            "maxDataSize: -1",
            "audit.maxDataSize: is negative: give a number from 1, or leave it out",
        ),
        (
            "maxToolsToReturn: 9",
            "maxToolsToReturn: 51",
            "optimizer.maxToolsToReturn: is not between 1 and 50: change it, or leave it out",
        ),
        (
            "hybridSearchSemanticRatio: \"0.5\"",
            "hybridSearchSemanticRatio: half",
            "optimizer.hybridSearchSemanticRatio: is not a number from 0 to 1: correct it",
        ),
        (
            "semanticDistanceThreshold: \"1.0\"",
            "semanticDistanceThreshold: '2.1'",
            "optimizer.semanticDistanceThreshold: is not a number from 0 to 2: correct it",
        ),
        (
            "stepLimit: 200000",
            "stepLimit: -1",
            "codeMode.stepLimit: is negative: give a number from 1, or leave it out",
        ),
        (
            "parallelMaxConcurrency: 4",
            "parallelMaxConcurrency: -1",
            "codeMode.parallelMaxConcurrency: is negative: give a number from 1, or leave it out",
        ),
        (
            "toolCallTimeout: 10s",
            "toolCallTimeout: -10s",
            "codeMode.toolCallTimeout: is negative: give a duration such as 30s, or leave it out",
        ),
    ]);
    each_is_fine(&[
        ("semanticDistanceThreshold: \"1.0\"", "semanticDistanceThreshold: '2'"),
        ("maxToolsToReturn: 9", "maxToolsToReturn: 50"),
        ("hybridSearchSemanticRatio: \"0.5\"", "hybridSearchSemanticRatio: ''"),
    ]);
}

#[test]
fn the_embedding_service_can_be_asked() {
    each_is_refused(&[
        (
            "embeddingService: https://embeddings.example.org",
            "embeddingService: embeddings",
            "optimizer.embeddingService: is not a URL with a host: write it as https://host/path",
        ),
        (
            "embeddingServiceTimeout: 20s",
            "embeddingServiceTimeout: -20s",
            "optimizer.embeddingServiceTimeout: is negative: give a duration such as 30s, or leave it out",
        ),
        (
            "    embeddingModel: small\n",
            "",
            "optimizer.embeddingModel: is empty, and embeddingProvider is openai: name the model",
        ),
        (
            "embeddingProvider: openai",
            "embeddingProvider: tei",
            "optimizer.embeddingHeaders: is there, and embeddingProvider is not openai: remove it",
        ),
        (
            "x-team: platform",
            "x team: platform",
            "optimizer.embeddingHeaders.x team: is not the name of a header: correct it",
        ),
        (
            "x-team: platform",
            "Content-Type: text/plain",
            "optimizer.embeddingHeaders.Content-Type: is set for you: remove it",
        ),
        (
            "x-team: platform",
            "x-team: ''",
            "optimizer.embeddingHeaders.x-team: has a value that is empty, too long or has control characters: \
             correct it",
        ),
    ]);
    let headers: Vec<_> = (0..33).map(|index| format!("x-{index}: a")).collect();
    let headers = headers.join(", ");
    let more = format!(
        "{MINIMAL}optimizer: {{embeddingProvider: openai, embeddingModel: a, embeddingHeaders: {{{headers}}}}}\n"
    );
    assert_eq!(problems(&more, None), ["optimizer.embeddingHeaders: has more than 32 headers: remove some"]);
}

#[test]
fn headers_of_the_connection_and_credentials_are_not_handed_on() {
    let refused = "passthroughHeaders[0]: must not be handed on: remove it; outgoingAuth says how to sign in";
    each_is_refused(&[
        ("- X-Tenant", "- Authorization", refused),
        ("- X-Tenant", "- COOKIE", refused),
        ("- X-Tenant", "- Host", refused),
        ("- X-Tenant", "- x-forwarded-for", refused),
        ("- X-Tenant", "- X Tenant", "passthroughHeaders[0]: is not the name of a header: correct it"),
    ]);
    each_is_fine(&[("- X-Tenant", "- traceparent")]);
}

#[test]
fn limits_limit_something_and_can_be_counted() {
    each_is_refused(&[
        (
            "provider: redis",
            "provider: memory",
            "rateLimiting: is there, and sessions are not in Redis: configure Redis as session storage, or remove the \
             limits",
        ),
        (
            "maxTokens: 100",
            "maxTokens: 0",
            "rateLimiting.shared.maxTokens: is less than 1: nobody could call; give a number from 1",
        ),
        (
            "duration: 1s",
            "duration: 0s",
            "rateLimiting.perUser.refillPeriod: is not longer than nothing: give a duration such as 1m",
        ),
        ("- name: triage\n          shared", "- shared", "rateLimiting.tools[0].name: is empty: set it"),
    ]);
    let storage = "sessionStorage: {provider: redis, address: 'a:1'}\n";
    assert_eq!(
        problems(&format!("{MINIMAL}{storage}rateLimiting: {{}}\n"), None),
        ["rateLimiting: limits nothing: add shared, perUser or tools, or remove it"]
    );
    let limits = "rateLimiting: {perUser: {maxTokens: 1, refillPeriod: 1m}, tools: [{name: a}]}\n";
    assert_eq!(
        problems(&format!("{MINIMAL}{storage}{limits}"), None),
        [
            "rateLimiting.perUser: is there, and callers do not say who they are: use oidc as incoming \
             authentication, or remove it",
            "rateLimiting.tools[0]: limits nothing: add shared or perUser, or remove it",
        ]
    );
}

#[test]
fn sessions_are_kept_somewhere() {
    each_is_refused(&[
        ("    address: redis.prod.svc:6379\n", "", "sessionStorage.address: is empty: set it"),
        ("db: 3", "db: -3", "sessionStorage.db: is negative: give the number of a database"),
        (
            "keyPrefix: \"hub:\"",
            "keyPrefix: hub",
            "sessionStorage.keyPrefix: does not end with `:`: append a colon",
        ),
    ]);
    each_is_fine(&[("    keyPrefix: \"hub:\"\n", ""), ("    db: 3\n", "")]);
}
