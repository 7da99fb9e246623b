//! The MCP server for AI agents, which trades only through a guard on this machine.
