// `node scripts/drawn.mjs <commit>`: the headers and the exports of thirty modules of the libraries, drawn by the hash of a commit, so that
// nobody chooses them. A reader who was not there says of each what its job is and which modules it works with.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import ts from "typescript"
import { parse } from "./syntax.mjs"
import { idOf, readWorkspace, root } from "./workspace.mjs"

const COUNT = 30

/** The modules whose names come first when each is hashed together with the seed. */
const draw = (modules, seed) => {
  const place = (id) => createHash("sha256").update(`${seed} ${id}`).digest("hex")
  return [...modules].sort((a, b) => place(a.id) < place(b.id) ? -1 : 1).slice(0, COUNT)
}

/** The comment at the beginning of a module, and its exports without what is inside of them. */
const outline = ({ path, text }) => {
  const source = parse({ path, text })
  const [header] = ts.getLeadingCommentRanges(text, 0) ?? []
  const isExported = (node) =>
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  const declared = source.statements.filter(isExported).map((node) =>
    node.getText(source).split("\n")[0].replace(/\s*(=>?|\{|\()?\s*$/, "")
  )
  return [header === undefined ? "" : text.slice(header.pos, header.end), ...declared].join("\n")
}

if (process.argv[1]?.endsWith("drawn.mjs")) {
  const [seed] = process.argv.slice(2)
  if (seed === undefined) {
    console.error("Give the commit whose hash draws the modules: node scripts/drawn.mjs HEAD~1")
    process.exit(2)
  }
  const hash = execFileSync("git", ["rev-parse", "--verify", `${seed}^{commit}`], { cwd: root, encoding: "utf8" })
    .trim()
  const modules = readWorkspace().packages.filter(({ library }) => library).flatMap(({ modules, name, path }) =>
    modules.filter(({ module }) => module !== "index").map(({ module, text }) => ({
      id: idOf(name, module),
      path: `${path}/src/${module}.ts`,
      text
    }))
  )
  draw(modules, hash).forEach((one, index) => console.log(`## ${index + 1}. ${one.path}\n\n${outline(one)}\n`))
}
