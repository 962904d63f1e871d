//! One backend: brought up behind a fence, and watched.
