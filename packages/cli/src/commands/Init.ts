/**
 * The command `init`, which writes a project that runs: a server over stdio, a server over HTTP, or a host. The project has a test, a
 * bundle and a workflow for continuous integration. The command also prints the entries for the configuration of hosts. `Cli` runs the
 * command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { existsSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { usage } from "../CommandFailure.js"
import { layer as outputLayer, lines, Output, paint } from "../CommandOutput.js"
import { jsonText } from "../Escape.js"
import * as Places from "../Places.js"

const templates = ["stdio", "http", "host"] as const

const titles = {
  stdio: "A server that a host launches",
  http: "A server over HTTP",
  host: "A host that connects to servers"
}

// The path differs between the bundled program and the compiled module.
const folder = ["../templates", "../../templates"].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path)) ?? "templates"

/**
 * Returns the name of a file in the project. In the template some files have another name, because npm would change them or leave them out
 * of the package.
 */
const nameOf = (path: string): string => path.replace(/(^|\/)_/g, "$1.").replace(/\.tmpl$/, "")

const entries = (template: (typeof templates)[number], name: string, at: string): string => {
  const program = { command: "node", args: [join(at, "dist", "main.js")] }
  const address = { type: "http", url: "http://127.0.0.1:3000/mcp" }
  const entry = template === "stdio" ? program : address
  const claude = template === "stdio"
    ? `claude mcp add ${name} -- node ${program.args[0]}`
    : `claude mcp add --transport http ${name} ${address.url}`
  return [
    "Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json):",
    jsonText({
      mcpServers: {
        [name]: template === "stdio"
          ? program
          : { command: "npx", args: ["-y", "@effect-mcp/cli", "bridge", address.url] }
      }
    }, 2),
    "VS Code (.vscode/mcp.json):",
    jsonText({ servers: { [name]: template === "stdio" ? { type: "stdio", ...program } : entry } }, 2),
    "Claude Code:",
    claude
  ].join("\n")
}

const writeProject = (
  files: FileSystem.FileSystem,
  chosen: (typeof templates)[number],
  target: string,
  name: string
) =>
  Effect.gen(function*() {
    for (const part of ["common", chosen]) {
      const from = join(folder, part)
      for (const file of yield* files.readDirectory(from, { recursive: true })) {
        const { type } = yield* files.stat(join(from, file))
        if (type !== "File") continue
        const to = join(target, nameOf(file))
        yield* files.makeDirectory(dirname(to), { recursive: true })
        const text = yield* files.readFileString(join(from, file))
        yield* files.writeFileString(to, text.replaceAll("__NAME__", name))
      }
    }
  })

export const command = Command.make("init", {
  template: Options.choice("template", templates).pipe(
    Options.withDescription("What the project is"),
    Options.optional
  ),
  path: Args.text({ name: "folder" }).pipe(Args.withDescription("Where to write the project"), Args.atMost(1))
}, ({ path, template }) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const { interactive, note, result } = yield* Output
    const at = path[0] ??
      (interactive ? yield* Prompt.text({ message: "Folder of the project", default: "my-server" }) : undefined)
    if (at === undefined) return yield* usage("Name the folder of the project")
    const chosen = Option.isSome(template)
      ? template.value
      : interactive
      ? yield* Prompt.select({
        message: "What is it?",
        choices: templates.map((value) => ({ value, title: titles[value] }))
      })
      : "stdio"
    const target = resolve(at)
    const name = basename(target).toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+|-+$/g, "") || "server"
    yield* Places.folder(target)
    const present = yield* Effect.orElseSucceed(files.readDirectory(target), () => [])
    if (present.some((name) => name !== ".git")) return yield* usage(`${target} is not empty: give another folder`)
    yield* Places.written(target, writeProject(files, chosen, target, name))
    yield* result({ name, path: target, template: chosen }, [paint("green", "Written:"), ` ${target}`])
    yield* note(lines([
      "",
      paint("bold", "Next:"),
      `  cd ${/^[\w./-]+$/.test(at) ? at : jsonText(at, 0)}`,
      "  npm install",
      "  npm test",
      "  npm run build",
      ...(chosen === "host" ? ["  npm start"] : ["", paint("bold", "Then, for a host:"), entries(chosen, name, target)])
    ]))
  }).pipe(
    Effect.provide(outputLayer(false))
  )).pipe(Command.withDescription("Writes a project that runs"))
