/**
 * The list of the host applications whose configuration files this package reads. For each host the list has the paths of the files, the
 * name of the member that contains the servers, the unit of `timeout`, and the syntax of variables. `ConfiguredServers` reads the files
 * with this list. An application cannot add hosts.
 */
import type * as ServersConfig from "@effect-mcp/core/ServersConfig"
import { posix, win32 } from "node:path"

export interface Host {
  readonly name: string
  /** The name of the host for people. */
  readonly title: string
  /**
   * The user's own files, in the order in which they are read. `all` is for platforms that have no own list. `~` means the home folder of
   * the user. For a variable at the beginning of a path, `bases` has the default.
   */
  readonly files: { readonly all: ReadonlyArray<string> } & Partial<Record<"darwin" | "win32", ReadonlyArray<string>>>
  /** The files in a project folder, as paths relative to the folder. */
  readonly folderFiles: ReadonlyArray<string>
  readonly decoding: ServersConfig.DecodeOptions
}

const millis: ServersConfig.DecodeOptions = { members: [["mcpServers"]], timeoutUnit: "millis" }

const host = <const Name extends string>(
  name: Name,
  title: string,
  files: Host["files"],
  folderFiles: ReadonlyArray<string>,
  decoding: ServersConfig.DecodeOptions
) => ({ name, title, files, folderFiles, decoding })

/** Returns the path of a file in the user's folder of VS Code, on each platform. */
const code = (path: string): Host["files"] => ({
  all: [`$XDG_CONFIG_HOME/Code/User/${path}`],
  darwin: [`~/Library/Application Support/Code/User/${path}`],
  win32: [`$APPDATA/Code/User/${path}`]
})

const ofCline = code("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
const clineProgram = ["~/.cline/data/settings/cline_mcp_settings.json"]

/** All hosts, in the order in which their files are read. */
export const hosts = [
  host("claude-code", "Claude Code", { all: ["$CLAUDE_CONFIG_DIR/.claude.json"] }, [".mcp.json"], millis),
  host(
    "claude-desktop",
    "Claude Desktop",
    {
      all: ["$XDG_CONFIG_HOME/Claude/claude_desktop_config.json"],
      darwin: ["~/Library/Application Support/Claude/claude_desktop_config.json"],
      win32: ["$APPDATA/Claude/claude_desktop_config.json"]
    },
    [],
    millis
  ),
  host("vscode", "VS Code", code("mcp.json"), [".vscode/mcp.json"], { ...millis, members: [["servers"]] }),
  host("cursor", "Cursor", { all: ["~/.cursor/mcp.json"] }, [".cursor/mcp.json"], millis),
  host("windsurf", "Windsurf", { all: ["~/.codeium/windsurf/mcp_config.json"] }, [], millis),
  host("gemini-cli", "Gemini CLI", { all: ["~/.gemini/settings.json"] }, [".gemini/settings.json"], {
    ...millis,
    variables: "$NAME"
  }),
  host(
    "cline",
    "Cline",
    {
      all: [...ofCline.all, ...clineProgram],
      darwin: [...ofCline.darwin ?? [], ...clineProgram],
      win32: [...ofCline.win32 ?? [], ...clineProgram]
    },
    [],
    { ...millis, timeoutUnit: "seconds" }
  ),
  host(
    "opencode",
    "opencode",
    { all: ["$XDG_CONFIG_HOME/opencode/opencode.jsonc", "$XDG_CONFIG_HOME/opencode/opencode.json"] },
    ["opencode.jsonc", "opencode.json"],
    { members: [["mcp", "servers"], ["mcp"]], timeoutUnit: "millis", variables: "{env:NAME}" }
  ),
  host(
    "zed",
    "Zed",
    { all: ["$XDG_CONFIG_HOME/zed/settings.json"], win32: ["$APPDATA/Zed/settings.json"] },
    [".zed/settings.json"],
    { members: [["context_servers"]], timeoutUnit: "seconds" }
  ),
  host("codex", "Codex", { all: ["$CODEX_HOME/config.toml"] }, [".codex/config.toml"], {
    members: [["mcp_servers"]],
    timeoutUnit: "seconds"
  })
] as const

/** The path that replaces a variable at the beginning of a path, when the variable is not set or is not an absolute path. */
const bases: Readonly<Record<string, string>> = {
  APPDATA: "~/AppData/Roaming",
  CLAUDE_CONFIG_DIR: "~",
  CODEX_HOME: "~/.codex",
  XDG_CONFIG_HOME: "~/.config"
}

export interface Place {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Returns the user's own files of a host. */
export const filesOf = ({ files }: Host, { environment, home, platform }: Place): ReadonlyArray<string> => {
  const path = platform === "win32" ? win32 : posix
  const absolute = (file: string): string => {
    const [, variable, rest = ""] = /^(?:\$([A-Z_]+)|~)(?:\/(.*))?$/.exec(file) ?? []
    if (variable === undefined) return path.join(home, rest)
    const given = environment[variable]
    return path.join(given !== undefined && path.isAbsolute(given) ? given : absolute(bases[variable] ?? "~"), rest)
  }
  return (files[platform as "win32"] ?? files.all).map(absolute)
}

/**
 * Returns the host that reads a file with this path, as a file of the user or as a file of a folder; `undefined` when no host reads this
 * file.
 */
export const ofPath = (file: string, place: Place): Host | undefined => {
  const slashed = file.replaceAll("\\", "/")
  return hosts.find((host: Host) => filesOf(host, place).includes(file)) ??
    hosts.find(({ folderFiles }: Host) => folderFiles.some((one) => slashed.endsWith(`/${one}`)))
}
