// Adds one thing of each kind to a small tree, and sees its figure, and no other, rise by one.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { compare } from "./budgets.mjs"
import { size } from "./size.mjs"

const temporary = mkdtempSync(join(tmpdir(), "size-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const header = "/**\n * What it does.\n *\n * @since 0.1.0\n */\n"

const source = (path, name) => ({ [path]: { "@effect-mcp/source": `./src/${name}.ts` } })

const manifest = (name, exports) => JSON.stringify({ name: `@effect-mcp/${name}`, exports })

const good = {
  "tsconfig.base.json": JSON.stringify({
    compilerOptions: { noLib: true, types: [], strict: true, module: "NodeNext", target: "ES2022" }
  }),
  "README.md": "# Read\n\n```ts\nconst inReadme: { name: string } = { name: \"\" }\n```\n",
  "node_modules/effect/dist/dts/Chunk.d.ts":
    "export declare const unsafeHead: unknown\nexport declare const unsafeOwn: unknown\n",
  "packages/server/package.json": manifest("server", {
    ...source("./A", "A"),
    ...source("./unstable/Pipe", "runtime/Pipe")
  }),
  "packages/server/src/A.ts": `${header}
import { pipe } from "./runtime/Pipe.js"

// A comment names Runtime and SchemaAST.
export interface Options {
  readonly name?: string
  readonly limits?: { readonly rate?: number; readonly maxSize?: number }
}
export const a = (options: Options) => pipe(options)
`,
  "packages/server/src/ServerSession.ts":
    `${header}interface Facts { readonly id: string }\nexport interface ServerSessionService extends Facts {\n  readonly ask: string\n}\n`,
  "packages/server/src/runtime/Pipe.ts": `${header}export const pipe = (one: unknown) => one\n`,
  "packages/server/test/A.test.ts": "a({ limits: { maxSize: 1 } })\na({ name: \"own\" })\n",
  "packages/client/package.json": manifest("client", {}),
  "packages/client/src/B.ts":
    `${header}import { pipe } from "@effect-mcp/server/unstable/Pipe"\nexport const b = pipe\n`,
  "packages/examples/src/main.ts": "import { a } from \"../../server/src/A.js\"\na({ limits: { rate: 1 } })\n"
}
const before = {
  "lines of code of the core": 13,
  "lines of code of all published packages": 13,
  "lines of code of the command line": 0,
  "modules of all published packages, each a concept": 4,
  "small hidden modules with one user": 0,
  "home-made parts for concurrency": 1,
  "files that name inner parts of Effect": 0,
  "files that read the tree of schemas": 0,
  "members of the handler's session": 2,
  "options that nobody sets": 1
}

let trees = 0

const sized = (change = {}) => {
  const at = join(temporary, String(trees++))
  for (const [path, text] of Object.entries({ ...good, ...change })) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return size(at, ["server/runtime/Pipe"])
}

const server = (name, added) => ({
  [`packages/server/src/${name}.ts`]: (good[`packages/server/src/${name}.ts`] ?? header) + added
})

const core = "lines of code of the core"
const published = "lines of code of all published packages"
const modules = "modules of all published packages, each a concept"
const unset = "options that nobody sets"
const setting = (text) => `import { a } from "../../server/src/A.js"\na(${text})\n`

/** What is added, and by how much it changes which figures. */
const cases = {
  "a line of the core": [server("A", "a({})\n"), { [core]: 1, [published]: 1 }],
  "a line of another package": [{ "packages/auth/src/C.ts": `${header}export {}\n` }, { [published]: 1, [modules]: 1 }],
  "a line of the command line": [{ "packages/cli/src/more.ts": "export {}\n" }, {
    "lines of code of the command line": 1
  }],
  "a line of a program": [{ "packages/examples/src/more.ts": "export {}\n" }, {}],
  "a comment, a tag and a blank line": [
    server("A", "/**\n * @since 0.1.0\n * @category models\n */\n// More.\n\n"),
    {}
  ],
  "a small module with one user": [
    { ...server("runtime/Own", "export {}\n"), ...server("A", "import \"./runtime/Own.js\"\n") },
    { [core]: 2, [published]: 2, [modules]: 1, "small hidden modules with one user": 1 }
  ],
  "a long module with one user": [
    { ...server("runtime/Own", `export {}\n${"//\n".repeat(60)}`), ...server("A", "import \"./runtime/Own.js\"\n") },
    { [core]: 2, [published]: 2, [modules]: 1 }
  ],
  "a module of the kit": [
    { "packages/jsonrpc/src/kit/Gate.ts": `${header}export {}\n` },
    { [core]: 1, [published]: 1, [modules]: 1, "home-made parts for concurrency": 1 }
  ],
  "an inner part of Effect": [
    server("A", "import \"effect/FiberRef\"\n"),
    { [core]: 1, [published]: 1, "files that name inner parts of Effect": 1 }
  ],
  "an unsafe member of Effect": [
    server("A", "Chunk.unsafeHead\n"),
    { [core]: 1, [published]: 1, "files that name inner parts of Effect": 1 }
  ],
  "an unsafe member of our own": [server("A", "export const unsafeOwn = 1\n"), { [core]: 1, [published]: 1 }],
  "a reader of schemas": [
    server("A", "import \"effect/SchemaAST\"\n"),
    { [core]: 1, [published]: 1, "files that read the tree of schemas": 1 }
  ],
  "a member of what the session extends": [
    {
      "packages/server/src/ServerSession.ts": good["packages/server/src/ServerSession.ts"]
        .replace("id: string", "id: string; readonly more: string")
    },
    { "members of the handler's session": 1 }
  ],
  "an option": [server("A", "export interface MoreOptions { readonly rest?: string }\n"), {
    [core]: 1,
    [published]: 1,
    [unset]: 1
  }],
  "a limit that a test names": [server("A", "export interface MoreOptions { readonly maxSize?: number }\n"), {
    [core]: 1,
    [published]: 1
  }],
  "an option of a hidden module": [
    server("runtime/Pipe", "export interface MoreOptions { readonly rest?: string }\n"),
    { [core]: 1, [published]: 1 }
  ],
  "what sets an option in a program": [{ "packages/examples/src/more.ts": setting("{ name: \"\" }") }, { [unset]: -1 }],
  "what sets something else of its name": [
    { "packages/examples/src/more.ts": "export const other: { name: string } = { name: \"\" }\n" },
    {}
  ],
  "what sets an option in the documentation": [
    { "README.md": `\`\`\`ts\n${setting("{ name: \"\" }").replace("../../", "../../../../")}\`\`\`\n` },
    { [unset]: -1 }
  ]
}

describe("the sizes", () => {
  it("are those of the tree", () => {
    const { figures, lists, problems } = sized()
    assert.deepEqual(figures, before)
    assert.deepEqual(lists[unset], ["packages/server/src/A.ts: name"])
    assert.deepEqual(problems, [])
  })

  for (const [added, [change, by]] of Object.entries(cases)) {
    it(`change with ${added}`, () => {
      const after = Object.entries(before).map(([what, now]) => [what, now + (by[what] ?? 0)])
      assert.deepEqual(sized(change).figures, Object.fromEntries(after))
    })
  }

  it("fail when a home-made part is gone", () => {
    const { problems } = size(join(temporary, "0"), ["server/runtime/Gone"])
    assert.deepEqual(problems, ["scripts/size.mjs: remove server/runtime/Gone from HOMEMADE: it is gone"])
  })
})

describe("a budget", () => {
  const judged = (figures, budgets) => compare(figures, budgets, (name) => `fewer ${name}`)

  it("may be used up", () => {
    const { notices, problems, table } = judged({ lines: 2 }, { lines: 2 })
    assert.deepEqual([problems, notices], [[], []])
    assert.match(table[1], /^lines +2 +2$/)
  })

  it("may not be exceeded", () =>
    assert.deepEqual(judged({ lines: 3 }, { lines: 2 }).problems, [
      "scripts/budgets.json: \"lines\" is 3, its budget 2: fewer lines"
    ]))

  it("should be lowered", () => {
    const { notices, problems } = judged({ lines: 1 }, { lines: 2 })
    assert.deepEqual(problems, [])
    assert.match(notices[0], /: notice: lower the budget of "lines" from 2 to 1$/)
  })

  it("is there for each figure, and for nothing else", () => {
    assert.match(judged({ lines: 1 }, {}).problems[0], /give "lines" a budget/)
    assert.match(judged({}, { lines: 1 }).problems[0], /remove "lines"/)
  })
})
