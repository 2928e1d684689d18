// Rules about one file: how long it is, how it opens, what it is called, that it is tested and documented.
import ts from "typescript"
import { lineOf } from "../syntax.mjs"
import { headerOf } from "../workspace.mjs"
import { isBarrel } from "./names.mjs"

const LIMIT = 400
const LARGE = 250
const HEADER = 12

const VAGUE = new Set(
  "utils util helpers helper common shared manager managers misc base impl types".split(" ")
)

const linesOf = (text) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0)

const isExported = (node) =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/** Exported declarations of a file whose own comment lacks a tag. What namespaces hold is not looked at. */
const undocumented = (file) => {
  const { source } = file
  const { text } = source
  const header = /^(?:#!.*\n)?/.exec(text)[0].length
  const found = []
  const documented = new Set()
  // Of the comments before a node the last is its own; the one that opens the file is the room's.
  const tagsOf = (node) => {
    const range = (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      .filter(({ end, pos }) => pos !== header && text.startsWith("/**", pos) && end - pos > 4).at(-1)
    return range === undefined ? "" : text.slice(range.pos, range.end)
  }
  const look = (node, name, tags) => {
    const comment = tagsOf(node)
    const missing = tags.filter((tag) => !new RegExp(`${tag}\\b`).test(comment))
    if (missing.length > 0) found.push({ line: lineOf(source, node), name, missing })
  }
  const all = ["@since", "@category"]
  for (const node of source.statements) {
    if (ts.isExportAssignment(node)) look(node, "the default export", all)
    if (ts.isExportDeclaration(node) && node.moduleSpecifier === undefined && node.exportClause !== undefined) {
      for (const element of node.exportClause.elements ?? []) look(element, element.name.text, all)
    }
    if (!isExported(node)) continue
    if (ts.isVariableStatement(node)) {
      const names = node.declarationList.declarations.map(({ name }) => name.getText(source))
      look(node, names.join(", "), all)
    } else if (ts.isModuleDeclaration(node)) {
      look(node, `namespace ${node.name.text}`, ["@since"])
    } else {
      const name = node.name?.text ?? "the default export"
      // Overloads share the comment of the first.
      if (ts.isFunctionDeclaration(node) && documented.has(name)) continue
      if (ts.isFunctionDeclaration(node)) documented.add(name)
      look(node, name, all)
    }
  }
  return found
}

export const fileRules = {
  "size": ({ each, notice, report }) =>
    each.file((_, file) => {
      const lines = linesOf(file.text)
      if (isBarrel(file) || lines <= LARGE) return
      if (lines > LIMIT) report(file.path, `split it: ${lines} lines, the limit is ${LIMIT}`)
      else notice(file.path, `${lines} lines, think of splitting it`)
    }),

  "header": ({ each, report }) =>
    each.room((pkg, file) => {
      if (isBarrel(file)) return
      const header = headerOf(file.text)
      if (header === undefined) {
        return report(file.path, "open with /** what lives here, what it does not know, its neighbours */")
      }
      if (header.lines.filter((line) => line !== "" && !line.startsWith("@since")).length < 2) {
        report(file.path, "say in the header what lives here and what it does not know: two to six lines")
      }
      if (header.lines.length > HEADER) {
        report(file.path, `shorten the header: ${header.lines.length} lines, the limit is ${HEADER} with tags`)
      }
      if (pkg.library && !header.has("@since")) report(file.path, "add @since to the header")
    }),

  "test": ({ each, report }) =>
    each.library((pkg) => {
      const tests = pkg.tests.map((file) => file.room)
      for (const file of pkg.rooms) {
        const { room } = file
        if (isBarrel(file)) continue
        if (!tests.some((test) => test === `${room}.test` || (test.startsWith(`${room}.`) && test.endsWith(".test")))) {
          report(file.path, `test it in ${pkg.path}/test/${room}.test.ts`)
        }
      }
    }),

  "name": ({ each, report }) => {
    each.file((_, file) => {
      const words = file.room.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
      const vague = words.find((word) => VAGUE.has(word.toLowerCase()))
      if (vague !== undefined) report(file.path, `name it after what lives there: "${vague}" says nothing`)
    })
    each.room((pkg, file) => {
      if (pkg.library && !isBarrel(file) && !/^([a-z][a-zA-Z0-9]*\/)*[A-Z][A-Za-z0-9]*$/.test(file.room)) {
        report(file.path, "name the room in PascalCase and its folders in lower case")
      }
    })
  },

  "internal": ({ each, report }) =>
    each.file((_, file) => {
      if (file.room.split("/").slice(0, -1).includes("internal")) {
        report(file.path, "move it out of internal/: small rooms and the exports map hide enough")
      }
    }),

  "jsdoc": ({ each, report }) =>
    each.room((pkg, file) => {
      if (!pkg.library || isBarrel(file)) return
      for (const { line, missing, name } of undocumented(file)) {
        report(`${file.path}:${line}`, `document ${name} with ${missing.join(" and ")}`)
      }
    })
}
