// The single edits that break a line of code, by a fixed list of operators; drawing some of them by a seed; and finding a
// drawn edit again after its lines moved. Knows TypeScript's syntax: whether an edit compiles, types.mjs says.
import { createHash } from "node:crypto"
import { basename } from "node:path"
import ts from "typescript"
import { parse } from "../syntax.mjs"

const K = ts.SyntaxKind

/** Operators that a binary expression is rewritten with, and the name of the edit. */
const binary = new Map([
  [K.LessThanToken, ["boundary", "<="]],
  [K.LessThanEqualsToken, ["boundary", "<"]],
  [K.GreaterThanToken, ["boundary", ">="]],
  [K.GreaterThanEqualsToken, ["boundary", ">"]],
  [K.EqualsEqualsEqualsToken, ["equality", "!=="]],
  [K.ExclamationEqualsEqualsToken, ["equality", "==="]],
  [K.AmpersandAmpersandToken, ["logic", "||"]],
  [K.BarBarToken, ["logic", "&&"]],
  [K.PlusToken, ["arithmetic", "-"]],
  [K.MinusToken, ["arithmetic", "+"]],
  [K.AsteriskToken, ["arithmetic", "/"]],
  [K.SlashToken, ["arithmetic", "*"]],
  [K.PlusEqualsToken, ["arithmetic", "-="]],
  [K.MinusEqualsToken, ["arithmetic", "+="]]
])

const isEquality = (node) => ts.isBinaryExpression(node) && binary.get(node.operatorToken.kind)?.[0] === "equality"

/** Calls whose last argument is run at the end of something: it does nothing instead. */
const ends = new Map([
  ["ensuring", "Effect.void"],
  ["addFinalizer", "() => Effect.void"],
  ["onExit", "() => Effect.void"],
  ["onError", "() => Effect.void"],
  ["onInterrupt", "() => Effect.void"],
  ["acquireRelease", "() => Effect.void"],
  ["acquireUseRelease", "() => Effect.void"]
])

/** Methods that change what they are called on a little: the edit leaves them out. */
const steps = new Set(["filter", "slice", "trim", "toLowerCase", "sort", "toSorted", "reverse", "flat", "normalize"])

const jumps = new Set([K.ReturnStatement, K.ThrowStatement, K.ContinueStatement, K.BreakStatement])

const isDeed = (expression) =>
  ts.isCallExpression(expression) || ts.isYieldExpression(expression) || ts.isDeleteExpression(expression) ||
  ts.isPostfixUnaryExpression(expression) || ts.isAwaitExpression(expression) ||
  (ts.isBinaryExpression(expression) && ts.isAssignmentOperator(expression.operatorToken.kind))

const calledName = (call) => ts.isPropertyAccessExpression(call.expression) ? call.expression.name.text : undefined

/** Strings that something is looked up or compared by. */
const isKey = (node) => {
  const { parent } = node
  return (ts.isBinaryExpression(parent) && (isEquality(parent) || parent.operatorToken.kind === K.InKeyword)) ||
    ts.isCaseClause(parent) || (ts.isElementAccessExpression(parent) && parent.argumentExpression === node) ||
    (ts.isCallExpression(parent) && parent.arguments[0] === node &&
      ["get", "set", "has", "delete", "startsWith", "endsWith", "includes", "add"].includes(calledName(parent)))
}

const isLeftOut = (node) =>
  ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) || ts.isTypeParameterDeclaration(node) || ts.isModuleDeclaration(node) ||
  node.modifiers?.some(({ kind }) => kind === K.DeclareKeyword) === true

/** What a node is inside of, by the names of declarations, outermost first. */
const within = (node) => {
  const names = []
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const named = ts.isFunctionDeclaration(at) || ts.isVariableDeclaration(at) || ts.isMethodDeclaration(at) ||
      ts.isClassDeclaration(at) || ts.isPropertyAssignment(at) || ts.isPropertyDeclaration(at)
    if (named && at.name !== undefined && ts.isIdentifier(at.name)) names.unshift(at.name.text)
  }
  return names.join(".")
}

/** Enough of a text to know it by. */
const brief = (text) => text.slice(0, 200)

/** Every edit of a file: `operator`, what `before` becomes `after`, and where: `start`, `end`, `line`, `text`, `within`. */
export const editsOf = (file) => {
  const source = parse(file)
  const text = file.text
  const lines = text.split("\n")
  const found = []
  const add = (operator, node, after, { end = node.getEnd(), shown = after, start = node.getStart(source) } = {}) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    const before = brief(text.slice(node.getStart(source), node.getEnd()))
    const place = { file: file.path, line: line + 1, within: within(node), text: lines[line].trim() }
    found.push({ ...place, operator, before, after: brief(shown), start, end, replacement: after })
  }
  const code = (node) => node.getText(source)
  /** Leaves one node of a list out, with the comma beside it. */
  const leaveOut = (operator, list) => {
    list.forEach((node, index) => {
      const next = list[index + 1]
      const range = next === undefined
        ? { start: index === 0 ? node.getStart(source) : list[index - 1].getEnd(), end: node.getEnd() }
        : { start: node.getStart(source), end: next.getStart(source) }
      add(operator, node, "", range)
    })
  }
  const condition = (node) => {
    const isNot = ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken
    if (!isNot && !isEquality(node)) add("condition", node, `!(${code(node)})`)
  }
  const call = (node) => {
    const name = calledName(node)
    const last = node.arguments.at(-1)
    const receiver = node.expression.expression
    if (name === "pipe" && ts.isPropertyAccessExpression(node.expression)) leaveOut("step", node.arguments)
    if (name !== undefined && ends.has(name) && last !== undefined) add("end", last, ends.get(name))
    if (name !== undefined && steps.has(name)) add("step", node, code(receiver))
    if (name === "min" || name === "max") {
      if (code(receiver) === "Math") add("bound", node.expression, `Math.${name === "min" ? "max" : "min"}`)
    }
    if (/^Effect\.(un)?interruptible$/.test(code(node.expression)) && last !== undefined) add("mask", node, code(last))
  }
  const visit = (node) => {
    if (isLeftOut(node)) return
    if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) condition(node.expression)
    if (ts.isConditionalExpression(node)) condition(node.condition)
    if (ts.isIfStatement(node) && node.elseStatement === undefined && jumps.has(node.thenStatement.kind)) {
      add("guard", node, "{}")
    }
    if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) add("not", node, code(node.operand))
    if (ts.isBinaryExpression(node)) {
      const kind = node.operatorToken.kind
      const [operator, after] = binary.get(kind) ?? []
      if (operator !== undefined) {
        const at = { start: node.operatorToken.getStart(source), end: node.operatorToken.getEnd() }
        add(operator, node, after, { ...at, shown: `${code(node.left)} ${after} ${code(node.right)}` })
      }
      if ((kind === K.PlusToken || kind === K.MinusToken) && code(node.right) === "1") add("one", node, code(node.left))
      if (kind === K.QuestionQuestionToken) {
        add("fallback", node, code(node.left))
        add("fallback", node, code(node.right))
      }
    }
    if (ts.isPostfixUnaryExpression(node)) {
      add("arithmetic", node, `${code(node.operand)}${node.operator === K.PlusPlusToken ? "--" : "++"}`)
    }
    if (ts.isNumericLiteral(node)) {
      add("number", node, `(${code(node)} + 1)`)
      if (Number(node.text) > 0) add("number", node, `(${code(node)} - 1)`)
    }
    if (node.kind === K.TrueKeyword) add("boolean", node, "false")
    if (node.kind === K.FalseKeyword) add("boolean", node, "true")
    if (ts.isStringLiteral(node) && node.text !== "" && isKey(node)) add("key", node, "\"\"")
    if (ts.isRegularExpressionLiteral(node)) {
      const at = node.getStart(source)
      const pattern = code(node)
      const end = pattern.lastIndexOf("/") - 1
      if (pattern[1] === "^") add("anchor", node, "", { start: at + 1, end: at + 2, shown: `/${pattern.slice(2)}` })
      if (pattern[end] === "$") {
        const shown = pattern.slice(0, end) + pattern.slice(end + 1)
        add("anchor", node, "", { start: at + end, end: at + end + 1, shown })
      }
    }
    if (ts.isExpressionStatement(node) && isDeed(node.expression)) {
      add("statement", node, "{}")
      const isLast = ts.isBlock(node.parent) && node.parent.statements.at(-1) === node
      if (ts.isBlock(node.parent) && !isLast) add("return", node, "return")
    }
    if (ts.isTryStatement(node) && node.finallyBlock !== undefined) add("end", node.finallyBlock, "{}")
    if (ts.isArrayLiteralExpression(node)) leaveOut("element", node.elements)
    if (ts.isObjectLiteralExpression(node)) leaveOut("property", node.properties)
    if (ts.isCallExpression(node)) call(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return numbered(found)
}

const identity = ["operator", "before", "after", "text", "within"]

const key = (edit, fields) => JSON.stringify(fields.map((field) => edit[field]))

/** Tells equal edits of one file apart by their order: `nth`. */
const numbered = (edits) => {
  const seen = new Map()
  return edits.map((edit) => {
    const nth = seen.get(key(edit, identity)) ?? 0
    seen.set(key(edit, identity), nth + 1)
    return { ...edit, nth }
  })
}

/** Whole numbers below a bound that depend on the seed alone. */
const numbers = (seed) => {
  let drawn = 0
  return (bound) => createHash("sha256").update(`${seed}:${drawn++}`).digest().readUInt32BE(0) % bound
}

/**
 * Draws edits without end, none twice: a line of code first, so that each line has the same chance however much stands on it,
 * then one of its edits. Depends on the seed and the files alone.
 */
export function* draw(files, seed) {
  const lines = files.flatMap((file) => byLine(editsOf(file)))
  const below = numbers(seed)
  while (lines.length > 0) {
    const at = below(lines.length)
    const [edit] = lines[at].splice(below(lines[at].length), 1)
    if (lines[at].length === 0) lines.splice(at, 1)
    yield edit
  }
}

const byLine = (edits) => {
  const lines = new Map()
  for (const edit of edits) lines.set(edit.line, [...lines.get(edit.line) ?? [], edit])
  return [...lines.values()]
}

/** Which fields must agree, from the strictest to the loosest; `everywhere` also looks in other files. */
const looks = [
  { fields: identity, everywhere: false },
  { fields: ["operator", "before", "after", "text"], everywhere: false },
  { fields: ["operator", "before", "after", "within"], everywhere: false },
  { fields: identity, everywhere: true },
  { fields: ["operator", "before", "after", "text"], everywhere: true }
]

/** Where a recorded edit stands now: in its file, in a file of that name, or anywhere; `undefined` when no place is certain. */
export const locate = (files, recorded) => {
  const edits = new Map()
  const editsIn = (some) =>
    some.flatMap((file) => {
      if (!edits.has(file)) edits.set(file, editsOf(file))
      return edits.get(file)
    })
  const own = files.filter(({ path }) => path === recorded.file)
  const named = files.filter(({ path }) => basename(path) === basename(recorded.file) && path !== recorded.file)
  // A file without a word of the edit need not be parsed.
  const others = files.filter(({ text }) => text.includes(recorded.text))
  for (const { everywhere, fields } of looks) {
    for (const some of everywhere ? [named, others] : [own]) {
      const same = editsIn(some).filter((edit) => key(edit, fields) === key(recorded, fields))
      if (same.length === 1) return same[0]
      const exact = fields === identity ? same[recorded.nth] : undefined
      if (exact !== undefined && !everywhere) return exact
    }
  }
  return undefined
}

/** The text of a file with an edit. */
export const applied = (text, { end, replacement, start }) => text.slice(0, start) + replacement + text.slice(end)
