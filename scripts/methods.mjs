// Writes docs/methods.md: every method of every revision, who sends it, which capability it needs, and whether our server and
// client have it. The methods come from the tables of the built protocol package, so build first; what is supported
// comes from methods.json beside this file, by side and era. What is deprecated must be marked in the types. `--check` writes nothing and exits 1 when the page is stale.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./workspace.mjs"

const page = "docs/methods.md"

/** The modules of the protocol that name methods and revisions. */
export const readProtocol = async (at = root) => {
  const module = (name) => import(pathToFileURL(join(at, "packages/core/dist/protocol", `${name}.js`)).href)
  const [legacy, modern, inputRequired, version, method] = await Promise.all(
    ["legacy/Methods", "modern/Methods", "modern/InputRequired", "Version", "Method"].map(module)
  )
  return {
    tables: { legacy: [...legacy.table.values()], modern: [...modern.table.values()] },
    questions: [...inputRequired.inputMethods.values()],
    revisions: [
      ...version.legacy.map((name) => ({ name, era: "legacy" })),
      ...version.modern.map((name) => ({ name, era: "modern" }))
    ],
    isIn: method.isIn,
    // The capability that a method needs at a revision: some methods are older than their capability.
    gate: ({ capability, gatedSince }, revision) => version.isAtLeast(revision, gatedSince) ? capability : undefined
  }
}

const readSupport = (at = root) => JSON.parse(readFileSync(join(at, "scripts/methods.json"), "utf8"))

/** What is wrong with the list of what is supported: a name that no table of its era has. */
export const flaws = ({ tables }, support) =>
  Object.entries(support).flatMap(([side, eras]) =>
    Object.entries(eras).flatMap(([era, names]) =>
      names.filter((name) => !tables[era]?.some((method) => method.name === name))
        .map((name) => `scripts/methods.json: ${side} ${era}: there is no method "${name}"`)
    )
  )

const row = (cells) => `| ${cells.join(" | ")} |`

const table = (head, rows) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

const code = (text) => `\`${text}\``

/** What is deprecated and no method: since when, by which proposal, and when a revision may be without it. */
const deprecatedFeatures = [
  ["`includeContext` of `sampling/createMessage`, but for `none`", "2026-07-28", "SEP-2577", "2027-07-28"],
  ["Dynamic Client Registration", "2026-07-28", "#2858", "2027-07-28"],
  ["The transport HTTP+SSE of 2024-11-05", "2025-03-26", "SEP-2596", "three months after the proposal is final"]
]

/** What applications write for each deprecated method and feature: the modules below packages, and the beginnings of declarations. */
const declarations = {
  "sampling/createMessage": [
    ["core/src/client/ClientFeatures.ts", "export const sampling ="],
    ["core/src/protocol/Capabilities.ts", "sampling:"],
    ["core/src/server/Ask.ts", "export const sample ="],
    ["core/src/server/ServerSession.ts", "readonly createMessage:"]
  ],
  "roots/list": [
    ["core/src/client/ClientFeatures.ts", "export const roots ="],
    ["core/src/protocol/Capabilities.ts", "roots:"],
    ["core/src/server/Ask.ts", "export const roots:"],
    ["core/src/server/ServerSession.ts", "readonly listRoots:"]
  ],
  "notifications/roots/list_changed": [["core/src/client/ClientSession.ts", "readonly rootsListChanged:"]],
  "logging/setLevel": [
    ["core/src/client/ClientSession.ts", "readonly logLevel?:"],
    ["core/src/client/ClientSession.ts", "readonly setLoggingLevel:"],
    ["core/src/protocol/Capabilities.ts", "logging:"],
    ["core/src/server/RequestContext.ts", "readonly logLevel:"]
  ],
  "notifications/message": [
    ["core/src/client/ClientFeatures.ts", "export const logging ="],
    ["core/src/client/ClientSession.ts", "readonly logs:"],
    ["core/src/server/ClientLogger.ts", "export const layer:"],
    ["core/src/server/ClientLogger.ts", "export const make ="],
    ["core/src/server/RequestContext.ts", "readonly log:"]
  ],
  [deprecatedFeatures[0][0]]: [["core/src/protocol/Sampling.ts", "includeContext:"]],
  [deprecatedFeatures[1][0]]: [["auth/src/ClientIdentity.ts", "readonly dynamicRegistration?:"]],
  [deprecatedFeatures[2][0]]: [
    ["core/src/client/Remote.ts", "readonly transport?:"],
    ["core/src/client/ServersConfig.ts", "export interface Address "],
    ["core/src/server/WebHandler.ts", "readonly ssePath?:"]
  ]
}

/**
 * What is wrong with the marks of what is deprecated: a method without declarations, and a declaration whose comment does not say since
 * which revision and by which proposal. `read` gives the text of a module.
 */
export const marks = ({ questions, tables }, read, declared = declarations, features = deprecatedFeatures) => {
  const methods = [...tables.legacy, ...tables.modern, ...questions].filter(({ deprecated }) =>
    deprecated !== undefined
  )
    .map(({ deprecated: { by, since }, name }) => [name, since, by])
  const all = new Map([...methods, ...features].map((one) => [one[0], one]))
  return [...all.values()].flatMap(([name, since, by]) =>
    (declared[name] ?? [[undefined, `a declaration of ${name}`]]).flatMap(([module, declaration]) => {
      const lines = module === undefined ? [] : read(module).split("\n")
      const at = lines.findIndex((line) => line.trimStart().startsWith(declaration))
      const comment = lines.slice(0, at).join("\n").split("/**").at(-1).replace(/^ *\* ?/gm, "")
      const isMarked = at !== -1 && lines[at - 1].endsWith("*/") &&
        new RegExp(`deprecated since ${since}`, "i").test(comment) && comment.includes(by)
      return isMarked
        ? []
        : [`${module ?? "scripts/methods.mjs"}: ${declaration} needs the mark of ${name}: ${since}, ${by}`]
    })
  )
}

const isDeprecated = ({ deprecated }, { name }) => deprecated !== undefined && name >= deprecated.since

const named = (method, revision) =>
  isDeprecated(method, revision) ? `${code(method.name)}, deprecated` : code(method.name)

const byKind = (methods) => ["request", "notification"].flatMap((kind) => methods.filter((one) => one.kind === kind))

/** The text of the page. */
export const pageOf = ({ gate, isIn, questions, revisions, tables }, support) => {
  const has = (side, era, { name }) => support[side][era].includes(name)
  const methodsOf = ({ era, name }) => byKind(tables[era].filter((method) => isIn(method, name)))
  const cells = (revision) => (method) => {
    const capability = gate(method, revision.name)
    return [
      named(method, revision),
      method.kind,
      method.from,
      capability === undefined ? "" : code(capability),
      ...["server", "client"].map((side) => has(side, revision.era, method) ? "yes" : "")
    ]
  }
  const sections = revisions.map((revision) => {
    const methods = methodsOf(revision)
    const count = (side) => methods.filter((method) => has(side, revision.era, method)).length
    return [
      `## ${revision.name}`,
      `${methods.length} methods, of the ${revision.era} era; the server has ${count("server")} of them, the client ${
        count("client")
      }.`,
      table(["Method", "Kind", "Sent by", "Capability", "Server", "Client"], methods.map(cells(revision)))
    ].join("\n\n")
  })
  const names = [...new Set([...tables.legacy, ...tables.modern].map(({ name }) => name))]
  const where = (name) =>
    revisions.map((revision) => methodsOf(revision).some((method) => method.name === name) ? "yes" : "")
  return [
    "# Methods",
    `The methods of each revision of the Model Context Protocol, and which of them the server and the client of this
library implement. They answer a request whose method they do not implement with "Method not found", and drop such a
notification. The schemas of all methods are in \`@effect-mcp/core\`; tests compare them with the official schemas.`,
    `A request with a capability may be sent only if the receiver declared that capability; a notification only if the
sender declared it, except \`notifications/elicitation/complete\`, which the receiver's capability allows.`,
    "Written by `node scripts/methods.mjs` from the tables of the protocol.",
    "## Which revision has which",
    table(
      ["Method", ...revisions.map(({ name }) => name)],
      names.map((name) => [code(name), ...where(name)])
    ),
    ...sections,
    "## What a modern server asks for",
    `From 2026-07-28 on a server sends no requests. Its result of a request asks for input, and the client sends
the request again with the answers. Server and client have all of them.`,
    table(
      ["Question", "Capability"],
      questions.map((question) => [named(question, revisions.at(-1)), code(question.capability)])
    ),
    "Tasks of 2026-07-28 are the extension `io.modelcontextprotocol/tasks`, which server and client have, too.",
    "## Deprecated",
    `What the specification has deprecated works as before, and is marked \`@deprecated\` in the types. A revision that
begins before the day of the last column has it still.`,
    table(["Feature", "Since", "By", "Earliest removal"], [
      ...[...new Map([...tables.legacy, ...questions].map((method) => [method.name, method])).values()]
        .flatMap(({ deprecated, name }) =>
          deprecated === undefined ? [] : [[code(name), deprecated.since, deprecated.by, deprecated.removedFrom]]
        ),
      ...deprecatedFeatures
    ])
  ].join("\n\n") + "\n"
}

/** Writes the page, or says that it is stale. */
export const methods = async (at = root, check = false) => {
  const protocol = await readProtocol(at)
  const support = readSupport(at)
  const read = (module) => readFileSync(join(at, "packages", module), "utf8")
  const wrong = [...flaws(protocol, support), ...marks(protocol, read)]
  if (wrong.length > 0) return { ok: false, lines: wrong }
  const path = join(at, page)
  const text = pageOf(protocol, support)
  const before = existsSync(path) ? readFileSync(path, "utf8") : ""
  if (before === text) return { ok: true, lines: [`${page} is up to date`] }
  if (check) return { ok: false, lines: [`${page}: stale: run node scripts/methods.mjs`] }
  writeFileSync(path, text)
  return { ok: true, lines: [`${page} is written`] }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = await methods(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
