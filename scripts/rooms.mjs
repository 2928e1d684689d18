// The rules of the house: which package may import which, what an era may know, how big a room is and how it opens, and
// that it has a test. Prints `file: rule: what to do` for each violation and exits 1; notices do not fail.
// Every rule is broken on purpose in rooms.test.mjs: a rule that cannot fire is a defect.
import { isBuiltin } from "node:module"
import { pathToFileURL } from "node:url"
import { arrowRules } from "./rules/arrows.mjs"
import { fileRules } from "./rules/files.mjs"
import { packageRules } from "./rules/packages.mjs"
import { importsOf, parse } from "./syntax.mjs"
import { readWorkspace, root } from "./workspace.mjs"

/** The picture: who stands directly on whom. What is below is reached transitively; nothing else is. */
const ARROWS = {
  jsonrpc: [],
  protocol: ["jsonrpc"],
  definition: ["protocol"],
  server: ["definition"],
  client: ["definition"],
  node: ["server", "client"],
  testing: ["server", "client"],
  examples: ["node", "testing"],
  benchmarks: ["node", "testing"]
}

/** Who may need what is not ours; a package that is not named here may be imported by whoever declares it. */
const OUTSIDE = [
  {
    matches: (name) => /^@effect\/platform-node(-shared)?$/.test(name),
    needs: "@effect/platform-node",
    by: ["node", "examples", "benchmarks"]
  },
  {
    matches: (name) => name === "@effect/platform",
    needs: "@effect/platform",
    by: ["server", "client", "node", "testing", "examples", "benchmarks"]
  },
  { matches: (name) => isBuiltin(name), needs: "Node's own modules", by: ["node", "examples", "benchmarks"] }
]

/** The rooms that choose an era, and so know both. A package alone means all of its rooms. */
const CHOOSE_ERA = ["server/Dispatcher", "server/http/Endpoint", "client/Negotiation", "client/Client", "testing"]

/** Rooms outside the era folders that know one era: `{ room, era, why }`. An entry that is not needed any more fails. */
const ONE_ERA = [
  { room: "client/ClientSession", era: "legacy", why: "its verbs are the methods of the legacy table" },
  { room: "client/Features", era: "legacy", why: "only a legacy server names a page that it asks to be opened" },
  { room: "client/Notifications", era: "legacy", why: "only a legacy server logs by notification" },
  { room: "client/Telemetry", era: "legacy", why: "the methods that have a name of their own are those of its table" },
  { room: "client/Remote", era: "legacy", why: "the transports that there are, are of this era" },
  { room: "server/Handler", era: "legacy", why: "`initialize`, which nobody else may serve, is of this era" },
  { room: "server/Telemetry", era: "legacy", why: "the methods that have a name of their own are those of its table" },
  { room: "server/features/Completion", era: "legacy", why: "its methods are those of the legacy table" },
  { room: "server/features/Prompts", era: "legacy", why: "its methods are those of the legacy table" },
  { room: "server/features/Resources", era: "legacy", why: "its methods are those of the legacy table" },
  { room: "server/features/Tools", era: "legacy", why: "its methods are those of the legacy table" }
]

// Each rule looks at the whole workspace; its key is its name.
const RULES = { ...packageRules, ...arrowRules, ...fileRules }

export const rules = Object.keys(RULES)

/** All that a package may import: itself, and what it stands on. */
const closure = (arrows) => {
  const reach = (name) => new Set([name, ...(arrows[name] ?? []).flatMap((below) => [...reach(below)])])
  return new Map(Object.keys(arrows).map((name) => [name, reach(name)]))
}

const walks = (packages) => {
  const files = (...parts) => (visit) => {
    for (const pkg of packages) {
      for (const file of parts.flatMap((part) => pkg[part])) visit(pkg, file)
    }
  }
  const imports = (...parts) => (visit) =>
    files(...parts)((pkg, file) => {
      for (const one of file.imports) visit(pkg, file, one)
    })
  return {
    package: (visit) => packages.forEach((pkg) => visit(pkg)),
    library: (visit) => packages.filter(({ library }) => library).forEach((pkg) => visit(pkg)),
    room: files("rooms"),
    file: files("rooms", "tests"),
    import: imports("rooms", "tests"),
    srcImport: imports("rooms"),
    testImport: imports("tests")
  }
}

/** All rules over the workspace at a folder: what breaks them and what is worth a notice, each `{ file, rule, what }`. */
export const inspect = (at = root, { chooseEra = CHOOSE_ERA, oneEra = ONE_ERA } = {}) => {
  const workspace = readWorkspace(at)
  for (const file of workspace.packages.flatMap((pkg) => [...pkg.rooms, ...pkg.tests])) {
    file.source = parse(file)
    file.imports = importsOf(file.source)
  }
  const violations = []
  const notices = []
  for (const [rule, check] of Object.entries(RULES)) {
    check({
      each: walks(workspace.packages),
      house: { chooseEra, oneEra, outside: OUTSIDE, reach: closure(ARROWS) },
      notice: (file, what) => notices.push({ file, rule, what }),
      report: (file, what) => violations.push({ file, rule, what }),
      workspace
    })
  }
  return { workspace, violations, notices }
}

const main = () => {
  const { notices, violations, workspace } = inspect()
  for (const { file, rule, what } of notices) console.log(`${file}: ${rule}: notice: ${what}`)
  for (const { file, rule, what } of violations) console.log(`${file}: ${rule}: ${what}`)
  const count = (part) => workspace.packages.reduce((sum, pkg) => sum + pkg[part].length, 0)
  console.log(
    `${count("rooms")} rooms, ${count("tests")} test files, ${rules.length} rules: ${violations.length} broken`
  )
  if (violations.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main()
