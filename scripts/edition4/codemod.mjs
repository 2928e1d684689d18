// Writes a module of the sources for Effect 4: finds what each rule of the tables names in the syntax tree, and prints the rest as it
// stands, comments and layout included. Imports follow from what the printed code names. It asks for no types: what no rule says is left
// for the compiler to find. Which rule fitted which file is counted, because a rule for one file is not a rule.
import ts from "typescript"
import { modules as moves } from "./modules.mjs"
import { names } from "./names.mjs"
import { rules } from "./rules.mjs"

/** The name of the module that has what version 4 has not. */
export const EFFECT3 = "Effect3"

const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)

/** The modules of Effect that a file imports: the name in the file and the name of the module. */
const importedBy = (source) => {
  const found = new Map()
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue
    const from = statement.moduleSpecifier.text
    const named = statement.importClause?.namedBindings
    if (named === undefined) continue
    if (from === "effect" && ts.isNamedImports(named)) {
      for (const one of named.elements) found.set(one.name.text, (one.propertyName ?? one.name).text)
    } else if (/^(effect|@effect\/[\w-]+)\//.test(from) && ts.isNamespaceImport(named)) {
      found.set(named.name.text, from.split("/").at(-1))
    }
  }
  return found
}

/** The names that a file declares itself. */
const declaredIn = (source) => {
  const found = new Set()
  const visit = (node) => {
    if (node.name !== undefined && ts.isIdentifier(node.name) && !ts.isPropertyAccessExpression(node)) {
      if (!ts.isPropertyAssignment(node) && !ts.isPropertySignature(node)) found.add(node.name.text)
    }
    ts.forEachChild(node, visit)
  }
  for (const statement of source.statements) visit(statement)
  return found
}

/** What is missing in version 4 is exported by a module that is written by hand, `Effect3` if no other, as `Module_member`. */
export const shimsOf = (text, from = EFFECT3) =>
  new Map([...text.matchAll(/^export (?:const|type|interface|class) ([A-Z]\w*)_(\w+)/gm)].map(([, module, member]) => [
    `${module}.${member}`,
    `${from}.${module}_${member}`
  ]))

/** What rules get: how to print nodes and what the file imports. */
class Printer {
  constructor(file, text, { fits, shimFits, shims }) {
    Object.assign(this, { file, text, fits, shims, shimFits })
    this.source = parse(file, text)
    this.modules = importedBy(this.source)
    this.declared = declaredIn(this.source)
    /** The modules of version 4 that the printed code names, by their names in the file. */
    this.needed = new Map()
  }

  get usesEither() {
    return this.either ??= [...this.modules.values()].includes("Either") || /Effect\.either\b/.test(this.text)
  }

  has(module) {
    return [...this.modules.values()].includes(module)
  }

  /** The name of a module of version 4 in this file. */
  use(module) {
    for (const [name, known] of this.modules) if (known === module) return name
    const name = this.declared.has(module) ? `${module}_` : module
    this.needed.set(module, name)
    return name
  }

  /** `Module.member`, or `Module.Namespace.member`, with the module's own name; `undefined` when it is not of Effect. */
  path(node) {
    if (node === undefined) return undefined
    if (ts.isPropertyAccessExpression(node) || ts.isQualifiedName(node)) {
      const [left, right] = ts.isQualifiedName(node) ? [node.left, node.right] : [node.expression, node.name]
      const before = ts.isIdentifier(left) ? this.modules.get(left.text) : this.path(left)
      return before === undefined ? undefined : `${before}.${right.text}`
    }
  }

  /** `Module.member` of version 4, as this file names it. */
  member(path) {
    const [module, ...rest] = path.split(".")
    return [this.use(module), ...rest].join(".")
  }

  plainText(node) {
    return node.getText(this.source)
  }

  fitted(rule) {
    if (!this.fits.has(rule)) this.fits.set(rule, new Set())
    this.fits.get(rule).add(this.file)
  }

  print(node) {
    for (const rule of rules) {
      const text = rule.print(node, this)
      if (text !== undefined) {
        this.fitted(rule.name)
        return text
      }
    }
    return this.named(node) ?? this.asIs(node)
  }

  named(node) {
    const path = this.path(node)
    if (path === undefined) return undefined
    const to = names.get(path)
    if (to !== undefined) {
      this.fitted(`${path} is ${to}`)
      return this.member(to)
    }
    const shim = this.shims.get(path)
    if (shim === undefined) return undefined
    this.shimFits.add(shim)
    return this.member(shim)
  }

  /** The node as it stands, but for the nodes in it. `other` has the texts of some of them. */
  asIs(node, other = new Map()) {
    const children = []
    ts.forEachChild(node, (child) => void children.push(child))
    children.sort((a, b) => a.pos - b.pos || a.end - b.end)
    let text = ""
    let at = node.getStart(this.source)
    for (const child of children) {
      const start = child.getStart(this.source)
      if (start < at) continue
      text += this.text.slice(at, start) + (other.get(child) ?? this.print(child))
      at = child.getEnd()
    }
    return text + this.text.slice(at, node.getEnd())
  }

  list(nodes) {
    return nodes.map((node) => this.print(node)).join(", ")
  }
}

/** Where a module of version 4 stands, as this file imports it. */
const specifierOf = (module, byHand) => byHand[module] ?? moves.get(module)?.from ?? `effect/${module}`

/** The names that code uses, and those that it uses as values. */
const usedBy = (source) => {
  const used = new Set()
  const values = new Set()
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const { parent } = node
      if (ts.isPropertyAccessExpression(parent) && parent.name === node) return
      if (ts.isQualifiedName(parent) && parent.right === node) return
      if (ts.isPropertyAssignment(parent) && parent.name === node) return
      used.add(node.text)
      if (!ts.isTypeReferenceNode(parent) && !ts.isQualifiedName(parent)) values.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  for (const statement of source.statements) if (!ts.isImportDeclaration(statement)) visit(statement)
  return { used, values }
}

/** The import statements of a printed module. */
const withImports = (printer, text, byHand) => {
  const source = parse(printer.file, text)
  const { used, values } = usedBy(source)
  const missing = new Map([...printer.needed].filter(([, name]) => used.has(name)))
  const line = (module, name) =>
    `import ${values.has(name) ? "" : "type "}* as ${name} from "${specifierOf(module, byHand)}"`
  const edits = []
  let last
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue
    last = statement
    const from = statement.moduleSpecifier.text
    const named = statement.importClause?.namedBindings
    if (named === undefined) continue
    const replace = (lines) =>
      edits.push({
        start: statement.getStart(source),
        end: statement.getEnd() + (lines.length === 0 ? 1 : 0),
        by: lines.join("\n")
      })
    if (from === "effect" && ts.isNamedImports(named)) {
      const elements = named.elements.map((one) => [(one.propertyName ?? one.name).text, one.name.text])
      const kept = elements.filter(([, name]) => used.has(name))
      if (kept.length === elements.length && kept.every(([module]) => !moves.has(module))) continue
      const here = kept.filter(([module]) => !moves.has(module))
      for (const [module] of kept) if (moves.has(module)) printer.fitted(moves.get(module).rule)
      replace([
        ...here.length === 0
          ? []
          : [
            `import { ${
              here.map(([module, name]) => module === name ? name : `${module} as ${name}`).join(", ")
            } } from "effect"`
          ],
        ...kept.filter(([module]) => moves.has(module)).map(([module, name]) => line(module, name))
      ])
    } else if (/^(effect|@effect\/[\w-]+)\//.test(from)) {
      const module = from.split("/").at(-1)
      const move = moves.get(module)
      if (move?.before !== undefined && move.before !== from) continue
      if (ts.isNamespaceImport(named)) {
        const name = named.name.text
        if (!used.has(name)) replace([])
        else if (move !== undefined && move.from !== from) {
          printer.fitted(move.rule)
          replace([line(module, name)])
        } else if (statement.importClause.isTypeOnly && values.has(name)) replace([line(module, name)])
      } else if (move !== undefined) {
        if (move.from === from) continue
        printer.fitted(move.rule)
        const to = specifierOf(module, byHand)
        edits.push({
          start: statement.moduleSpecifier.getStart(source),
          end: statement.moduleSpecifier.getEnd(),
          by: `"${to}"`
        })
      }
    }
  }
  const added = [...missing].map(([module, name]) => line(module, name)).sort()
  if (added.length > 0) {
    if (last === undefined) throw new Error(`${printer.file}: it needs ${added.join("; ")}, and has no import`)
    edits.push({ start: last.getEnd(), end: last.getEnd(), by: `\n${added.join("\n")}` })
  }
  edits.sort((a, b) => b.start - a.start || b.end - a.end)
  for (const { by, end, start } of edits) text = text.slice(0, start) + by + text.slice(end)
  return text
}

/**
 * The module for version 4. `byHand` says how the file imports the modules that have what version 4 has not; `counts` collects which rule
 * fitted which file.
 */
export const transform = (file, text, { byHand, counts, shims }) => {
  const printer = new Printer(file, text, { ...counts, shims })
  let printed = ""
  let at = 0
  for (const statement of printer.source.statements) {
    const start = statement.getStart(printer.source)
    printed += text.slice(at, start)
    printed += ts.isImportDeclaration(statement) ? text.slice(start, statement.getEnd()) : printer.print(statement)
    at = statement.getEnd()
  }
  return withImports(printer, printed + text.slice(at), byHand)
}

/** Empty counts: for each rule the files that it fitted, and the shims that were used. */
export const newCounts = () => ({ fits: new Map(), shimFits: new Set() })
