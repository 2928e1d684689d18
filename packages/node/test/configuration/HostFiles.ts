/**
 * A file of each host, in the shape that the page of the host shows, with one entry that cannot be read; where the file is in the
 * home of a user; and what its servers are.
 */
import type * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"

export interface HostFile {
  readonly path: string
  readonly text: string
  /** What is read, with the variables filled in, and `timeout` in milliseconds. */
  readonly servers: Readonly<Record<string, object>>
  /** The entry that cannot be read. */
  readonly broken: { readonly member: string | undefined; readonly reason: string }
  readonly disabled?: ReadonlyArray<string>
}

export const environment = {
  API_KEY: "key",
  DATABASE: "postgres://db",
  TOKEN: "token",
  REGION: "eu"
}

const text = "expected a string"

export const hostFiles: Readonly<Record<ConfiguredServers.Host, HostFile>> = {
  "claude-code": {
    path: ".claude.json",
    text: `{
  "numStartups": 41,
  "projects": { "/elsewhere": { "mcpServers": { "other": { "command": "other" } } } },
  "mcpServers": {
    "airtable": { "type": "stdio", "command": "npx", "args": ["-y", "airtable-server"], "env": { "KEY": "\${API_KEY}" } },
    "api": {
      "type": "http",
      "url": "\${API_URL:-https://api.example.com}/mcp",
      "headers": { "Authorization": "Bearer \${TOKEN}" },
      "timeout": 600000
    },
    "broken": { "type": "http", "url": "https://api.example.com", "headers": { "Authorization": ["Bearer"] } },
    "events": { "type": "sse", "url": "https://sse.example.com/sse" }
  }
}`,
    servers: {
      airtable: { command: "npx", args: ["-y", "airtable-server"], env: { KEY: "key" } },
      api: { url: "https://api.example.com/mcp", headers: { Authorization: "Bearer token" }, timeout: 600_000 },
      events: { type: "sse", url: "https://sse.example.com/sse" }
    },
    broken: { member: "headers.Authorization", reason: text }
  },
  "claude-desktop": {
    path: ".config/Claude/claude_desktop_config.json",
    text: `\uFEFF{
  "globalShortcut": "",
  "mcpServers": {
    "filesystem": { "command": "npx", "args": ["-y", "server-filesystem", "/Users/ada/Desktop"] },
    "broken": { "command": "npx", "args": "-y server-memory" },
    "weather": { "command": "uv", "args": ["--directory", "/weather", "run", "weather.py"], "env": { "PORT": 8080 } }
  }
}`,
    servers: {
      filesystem: { command: "npx", args: ["-y", "server-filesystem", "/Users/ada/Desktop"] },
      weather: { command: "uv", args: ["--directory", "/weather", "run", "weather.py"], env: { PORT: "8080" } }
    },
    broken: { member: "args", reason: "expected a list of strings" }
  },
  "vscode": {
    path: ".config/Code/User/mcp.json",
    text: `{
  // What is asked for is stored securely.
  "inputs": [
    { "type": "promptString", "id": "key", "description": "API key", "password": true },
  ],
  "servers": {
    "github": { "type": "http", "url": "https://api.example.com/mcp" },
    "fetch": { "type": "stdio", "command": "uvx", "args": ["mcp-fetch"], "env": { "DEBUG": false } },
    /* Only the editor can ask. */
    "broken": { "type": "stdio", "command": "npx", "args": ["-y", "search"], "env": { "KEY": "\${input:key}" } },
    "local": {
      "command": "node",
      "args": ["\${workspaceFolder}/server.js"],
      "envFile": "\${workspaceFolder}/.env",
      "env": { "KEY": "mine" },
      "dev": { "watch": "src/**/*.ts" },
    },
  },
}`,
    servers: {
      github: { url: "https://api.example.com/mcp" },
      fetch: { command: "uvx", args: ["mcp-fetch"], env: { DEBUG: "false" } },
      local: { command: "node", args: ["$FOLDER/server.js"], env: { FROM_FILE: "yes", KEY: "mine" } }
    },
    broken: { member: "env.KEY", reason: "the variable \"input:key\" has neither a value nor a default" }
  },
  "cursor": {
    path: ".cursor/mcp.json",
    text: `{
  "mcpServers": {
    "python": { "command": "python", "args": ["\${workspaceFolder}/tools/server.py"], "env": { "KEY": "\${env:API_KEY}" } },
    "remote": { "url": "http://localhost:3000/mcp", "headers": { "API_KEY": "\${env:API_KEY}" } },
    "oauth": { "url": "https://api.example.com/mcp", "auth": { "CLIENT_ID": "\${env:CLIENT_ID}", "scopes": ["read"] } },
    "broken": { "command": "python", "args": [{ "path": "server.py" }] },
    "home": { "command": "node", "args": ["\${userHome}\${/}server.js"] }
  }
}`,
    servers: {
      python: { command: "python", args: ["$FOLDER/tools/server.py"], env: { KEY: "key" } },
      remote: { url: "http://localhost:3000/mcp", headers: { API_KEY: "key" } },
      oauth: { url: "https://api.example.com/mcp" },
      home: { command: "node", args: ["$HOME/server.js"] }
    },
    broken: { member: "args[0]", reason: text }
  },
  "windsurf": {
    path: ".codeium/windsurf/mcp_config.json",
    text: `{
  "mcpServers": {
    "github": { "command": "npx", "args": ["-y", "server-github"], "env": { "TOKEN": "\${env:TOKEN}" }, "disabled": false },
    "remote": {
      "serverUrl": "https://remote.example.com/mcp",
      "headers": { "Authorization": "Bearer \${env:TOKEN}" },
      "disabledTools": ["delete"]
    },
    "broken": { "serverUrl": "https://remote.example.com/mcp", "headers": { "API_KEY": "\${file:/run/secrets/key}" } }
  }
}`,
    servers: {
      github: { command: "npx", args: ["-y", "server-github"], env: { TOKEN: "token" } },
      remote: { url: "https://remote.example.com/mcp", headers: { Authorization: "Bearer token" } }
    },
    broken: {
      member: "headers.API_KEY",
      reason: "the variable \"file:/run/secrets/key\" has neither a value nor a default"
    }
  },
  "gemini-cli": {
    path: ".gemini/settings.json",
    text: `{
  "theme": "GitHub",
  "mcp": { "allowed": ["python"] },
  "mcpServers": {
    "python": {
      "command": "python",
      "args": ["-m", "server", "--port", 8080],
      "cwd": "./servers/python",
      "env": { "DATABASE": "$DATABASE", "KEY": "\${API_KEY}" },
      "timeout": 15000,
      "trust": false,
      "includeTools": ["safe"]
    },
    "http": { "httpUrl": "http://localhost:3000/mcp", "timeout": 500 },
    "sse": { "url": "http://localhost:8080/sse" },
    "broken": { "command": "docker", "args": ["run", "-e", "KEY"], "env": { "KEY": "$EXTERNAL_TOKEN" } }
  }
}`,
    servers: {
      python: {
        command: "python",
        args: ["-m", "server", "--port", "8080"],
        cwd: "./servers/python",
        env: { DATABASE: "postgres://db", KEY: "key" },
        timeout: 15_000
      },
      http: { url: "http://localhost:3000/mcp", timeout: 500 },
      sse: { url: "http://localhost:8080/sse" }
    },
    broken: { member: "env.KEY", reason: "the variable \"EXTERNAL_TOKEN\" has neither a value nor a default" }
  },
  "cline": {
    path: ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    text: `{
  "mcpServers": {
    "local": {
      "command": "node",
      "args": ["/path/to/server.js"],
      "env": { "KEY": "key" },
      "alwaysAllow": ["one"],
      "autoApprove": [],
      "disabled": false,
      "timeout": 3600
    },
    "remote": { "type": "streamableHttp", "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer t" } },
    "broken": { "command": "node", "timeout": "an hour" },
    "off": { "command": 5, "args": 5, "disabled": true }
  }
}`,
    servers: {
      local: { command: "node", args: ["/path/to/server.js"], env: { KEY: "key" }, timeout: 3_600_000 },
      remote: { url: "https://api.example.com/mcp", headers: { Authorization: "Bearer t" } }
    },
    broken: { member: "timeout", reason: "expected a duration" },
    disabled: ["off"]
  },
  "opencode": {
    path: ".config/opencode/opencode.jsonc",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "everything": {
      "type": "local",
      // Or ["bun", "x", "server"]
      "command": ["npx", "-y", "server-everything"],
      "enabled": true,
      "environment": { "LEVEL": "info", "SHELL_TEXT": "\${HOME}" },
      "timeout": 5000,
    },
    "sentry": { "type": "remote", "url": "https://mcp.example.com/mcp", "oauth": {} },
    "context": { "type": "remote", "url": "https://c.example.com/mcp", "headers": { "KEY": "{env:API_KEY}" } },
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
    "broken": { "type": "local", "command": ["npx", ["-y"]] },
  },
}`,
    servers: {
      everything: {
        command: "npx",
        args: ["-y", "server-everything"],
        env: { LEVEL: "info", SHELL_TEXT: "${HOME}" },
        timeout: 5000
      },
      sentry: { url: "https://mcp.example.com/mcp" },
      context: { url: "https://c.example.com/mcp", headers: { KEY: "key" } }
    },
    broken: { member: "command[1]", reason: text },
    disabled: ["jira"]
  },
  "zed": {
    path: ".config/zed/settings.json",
    text: `// Settings of the editor
{
  "vim_mode": true,
  "context_servers": {
    "local": { "source": "custom", "command": "some-command", "args": ["arg-1"], "env": {}, "timeout": 300 },
    "remote": { "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer token" } },
    // An extension has the command.
    "broken": { "source": "extension", "enabled": true, "settings": { "token": "token" } },
  },
}`,
    servers: {
      local: { command: "some-command", args: ["arg-1"], env: {}, timeout: 300_000 },
      remote: { url: "https://api.example.com/mcp", headers: { Authorization: "Bearer token" } }
    },
    broken: { member: undefined, reason: "it has no command and no URL" }
  },
  "codex": {
    path: ".codex/config.toml",
    text: `model = "o"

[mcp_servers.context]
command = "npx"
args = ["-y", "context-server"]
env_vars = ["REGION", "NOT_SET"]
startup_timeout_sec = 20
tool_timeout_sec = 45

[mcp_servers.context.env]
RETRIES = 3

[mcp_servers.figma]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-Region" = "us-east-1" }
env_http_headers = { "X-Key" = "API_KEY" }

[mcp_servers.off]
command = "npx"
enabled = false

[mcp_servers.broken]
command = "npx"
args = [1979-05-27]
`,
    servers: {
      context: { command: "npx", args: ["-y", "context-server"], env: { REGION: "eu", RETRIES: "3" }, timeout: 45_000 },
      figma: {
        url: "https://mcp.example.com/mcp",
        headers: { "X-Region": "us-east-1", "X-Key": "key", "Authorization": "Bearer token" }
      }
    },
    broken: { member: "args[0]", reason: text },
    disabled: ["off"]
  }
}
