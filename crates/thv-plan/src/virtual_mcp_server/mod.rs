//! `VirtualMCPServer`: all servers of a group as one.

mod refs;
