//! Annotation keys.

/// On a ConfigMap: digest of its content.
pub const CONTENT_CHECKSUM: &str = "toolhive.stacklok.dev/content-checksum";
/// On pods: digest of the configuration that they run with. A change rolls them.
pub const RUN_CONFIG_CHECKSUM: &str = "toolhive.stacklok.dev/runconfig-checksum";
/// On pods: the generation of the `MCPServer` that they were made for.
pub const MCP_SERVER_GENERATION: &str = "toolhive.stacklok.dev/mcpserver-generation";
/// On an `MCPServer` and its Deployment: the rendered revision, which orders the writers of the backend.
pub const REVISION: &str = "toolhive.stacklok.dev/revision";
/// On a backend: owner, revision and digest of what was applied last.
pub const APPLIED_REVISION: &str = "toolhive.stacklok.dev/applied-revision";
/// On a backend that is stopped: how many replicas it had.
pub const REPLICAS_BEFORE_STOP: &str = "toolhive.stacklok.dev/replicas-before-stop";
/// On pods of an `MCPRegistry`: digest of what they run, the configuration included. A change rolls them.
pub const CONFIG_HASH: &str = "toolhive.stacklok.dev/config-hash";
/// On a Secret of ours: what it is for.
pub const PURPOSE: &str = "toolhive.stacklok.dev/purpose";
/// Value of [`PURPOSE`] on the Secret that binds the sessions of a virtual server.
pub const PURPOSE_SESSION_HMAC: &str = "hmac-secret-for-session-token-binding";

/// On an `MCPServer`: when its user asked for a restart. On pods: when they were restarted for that.
pub const RESTARTED_AT: &str = "mcpserver.toolhive.stacklok.dev/restarted-at";
/// On an `MCPServer`: how to restart, `rolling` or `immediate`.
pub const RESTART_STRATEGY: &str = "mcpserver.toolhive.stacklok.dev/restart-strategy";
/// On an `MCPServer`: the request that was last carried out.
pub const LAST_PROCESSED_RESTART: &str = "mcpserver.toolhive.stacklok.dev/last-processed-restart";
/// On an `MCPServer`: whether its pods restart when the content of a Secret or of certificates that they use is rotated.
pub const RESTART_ON_ROTATION: &str = "toolhive.stacklok.dev/restart-on-rotation";
/// On pods that restart when content is rotated: digest of the content.
pub const ROTATED_CONTENT: &str = "toolhive.stacklok.dev/rotated-content";
/// On pods: when `kubectl rollout restart` was last used.
pub const KUBECTL_RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// On Deployments of the Go operator: digest of the pod template. Withdrawn when we take over.
pub const POD_TEMPLATE_SPEC_HASH: &str = "toolhive.stacklok.io/podtemplatespec-hash";
/// On Deployments of the Go operator: digest of the pull secrets. Withdrawn when we take over.
pub const IMAGE_PULL_SECRETS_HASH: &str = "toolhive.stacklok.io/imagepullsecrets-hash";
/// On Deployments of the Go operator: digest of the volumes. Withdrawn when we take over.
pub const POD_VOLUMES_HASH: &str = "toolhive.stacklok.io/podvolumes-hash";
