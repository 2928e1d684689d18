// Writes the tables of docs/options.md from the interfaces of the options: each option, its default and what its comment says.
// `<!-- options: packages/core/src/server/Limits.ts HttpLimits -->` stands before a table; names after the interface choose some of its
// members. `<!-- named: … -->` stands before a table that is written by hand: the page must name each member of the interface.
// `--check` writes nothing and exits 1 when the page is stale.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { root } from "./workspace.mjs"

const page = "docs/options.md"

const marker = /^<!-- (options|named): (\S+) (\w+)((?: \w+)*) -->$/

/** The text of a comment: paragraphs and lists in one line. */
const textOf = (comment) =>
  (ts.getTextOfJSDocComment(comment) ?? "").trim()
    .replace(/\s*\n\s*- /g, "<br>- ").replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|")

/** The members of an interface: name, default and what else the comment says. */
const membersOf = (source, name) => {
  const found = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name)
  return found?.members.filter(ts.isPropertySignature).map((member) => {
    const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
    const text = textOf(comment?.comment)
    const byDefault = /\s*Default: (.+?)\.(?=\s|<br>|$)/.exec(text)
    const deprecated = comment?.tags?.find(({ tagName }) => tagName.text === "deprecated")
    return {
      name: member.name.getText(source),
      isRequired: member.questionToken === undefined,
      byDefault: byDefault?.[1] ?? "",
      text: [
        byDefault === null ? text : text.replace(byDefault[0], ""),
        deprecated === undefined ? "" : `Deprecated ${textOf(deprecated.comment)}`
      ].filter((part) => part !== "").join(" ").replace(/^<br>/, "")
    }
  })
}

const row = ({ byDefault, isRequired, name, text }) =>
  `| \`${name}\` | ${isRequired && byDefault === "" ? "required" : byDefault} | ${text} |`.replace(/ {2}\|/g, " |")

/** The page with its tables as the sources have them, and what is wrong with its markers. */
const written = (text, at = root) => {
  const errors = []
  const out = []
  let isOld = false
  const add = (line) => out.push(line)
  text.split("\n").forEach((line, index) => {
    if (isOld && line.startsWith("|")) return
    isOld = false
    add(line)
    const [, kind, path, name, some] = marker.exec(line) ?? []
    if (kind === undefined) return
    const fail = (what) => errors.push(`${page}:${index + 1}: ${what}`)
    if (!existsSync(join(at, path))) return fail(`there is no ${path}`)
    const source = ts.createSourceFile(path, readFileSync(join(at, path), "utf8"), ts.ScriptTarget.Latest, true)
    const members = membersOf(source, name)
    if (members === undefined) return fail(`${path} has no interface ${name}`)
    if (kind === "named") {
      for (const member of members) {
        if (!text.includes(`\`${member.name}\``)) fail(`the page does not name \`${member.name}\` of ${name}`)
      }
      return
    }
    const chosen = some.split(" ").filter((one) => one !== "")
    for (const one of chosen) if (!members.some((member) => member.name === one)) fail(`${name} has no ${one}`)
    const shown = members.filter((member) => chosen.length === 0 || chosen.includes(member.name))
    for (const member of shown) {
      if (member.text === "" && member.byDefault === "") fail(`${member.name} of ${name} has no comment`)
    }
    for (const line of ["| option | default | |", "|---|---|---|", ...shown.map(row)]) add(line)
    isOld = true
  })
  return { text: out.join("\n"), errors }
}

/** Writes the page, or says that it is stale. */
export const options = (at = root, check = false) => {
  const path = join(at, page)
  const before = readFileSync(path, "utf8")
  const { errors, text } = written(before, at)
  if (errors.length > 0) return { ok: false, lines: errors }
  if (before === text) return { ok: true, lines: [`${page} is up to date`] }
  if (check) return { ok: false, lines: [`${page}: stale: run node scripts/options.mjs`] }
  writeFileSync(path, text)
  return { ok: true, lines: [`${page} is written`] }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = options(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
