// What has another shape in version 4. A row is a rule: its name, the code before and after, which is its test, and how it prints a node
// (`undefined`: the rule does not fit). A rule fits two files at least: what one file needs is written by hand beside the file.
import ts from "typescript"

/** The arguments of a call of `Module.member`. */
const argumentsOf = (node, printer, path) =>
  ts.isCallExpression(node) && printer.path(node.expression) === path ? [...node.arguments] : undefined

/** A rule for calls of one function; `print` gets the arguments, the printer and the node. */
const call = (path, name, example, print) => ({
  name,
  example,
  print: (node, printer) => {
    const args = argumentsOf(node, printer, path)
    return args === undefined ? undefined : print(args, printer, node)
  }
})

/** The value of a member of an object literal. */
const member = (object, name) => {
  const found = object.properties.find((one) => one.name?.text === name)
  return found?.initializer ?? found?.name
}

const arrayCall = (from, to) =>
  call(
    from,
    `${from}(a, b) is ${to}([a, b])`,
    [`${from}(a, b)`, `${to}([a, b])`],
    (args, printer) =>
      args.length === 0 || (args.length === 1 && from === to && ts.isArrayLiteralExpression(args[0]))
        ? undefined
        : `${printer.member(to)}([${printer.list(args)}])`
  )

const isClassOf = (node, printer, path) => {
  const base = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined
  if (base === undefined || !ts.isCallExpression(base) || !ts.isCallExpression(base.expression)) return undefined
  const of = ts.isExpressionWithTypeArguments(base.expression.expression)
    ? base.expression.expression.expression
    : base.expression.expression
  return printer.path(of) === path ? base : undefined
}

/** `[...T]` is `T`. */
const tuple = (node, printer) =>
  node.elements.length === 1 && ts.isRestTypeNode(node.elements[0])
    ? printer.print(node.elements[0].type)
    : printer.print(node)

const forks = new Map([
  ["Effect.fork", "Effect.forkChild"],
  ["Effect.forkDaemon", "Effect.forkDetach"],
  ["Effect.forkIn", "Effect.forkIn"],
  ["Effect.forkScoped", "Effect.forkScoped"]
])

const INHERIT = "{ uninterruptible: \"inherit\" }"

export const rules = [
  {
    name: "a fiber inherits whether it can be interrupted",
    example: [
      "Effect.fork(a); b.pipe(Effect.forkDaemon)",
      `Effect.forkChild(a, ${INHERIT}); b.pipe(Effect.forkDetach(${INHERIT}))`
    ],
    print: (node, printer) => {
      const isCall = ts.isCallExpression(node)
      const to = forks.get(printer.path(isCall ? node.expression : node))
      // With options, the code is of version 4 already.
      const call = isCall
        ? node
        : ts.isCallExpression(node.parent) && node.parent.expression === node
        ? node.parent
        : undefined
      if (to === undefined || call?.arguments.some(ts.isObjectLiteralExpression)) return undefined
      return `${printer.member(to)}(${
        [...isCall ? node.arguments.map((arg) => printer.print(arg)) : [], INHERIT].join(", ")
      })`
    }
  },
  {
    name: "types in a namespace of their module's name are in the module",
    example: [
      "type T = Effect.Effect.Error<A> | Effect.Effect.Context<A>",
      "type T = Effect.Error<A> | Effect.Services<A>"
    ],
    print: (node, printer) => {
      const [, module, type] = /^(Config|Effect|Layer|Metric)\.\1\.(\w+)$/.exec(printer.path(node) ?? "") ?? []
      return module === undefined ? undefined : printer.member(`${module}.${type === "Context" ? "Services" : type}`)
    }
  },
  {
    name: "Context.Tag(key)<Self, Service>() is Context.Service<Self, Service>()(key)",
    example: ["class A extends Context.Tag(\"a\")<A, B>() {}", "class A extends Context.Service<A, B>()(\"a\") {}"],
    print: (node, printer) => {
      if (!ts.isCallExpression(node) || !ts.isCallExpression(node.expression)) return undefined
      const [key] = argumentsOf(node.expression, printer, "Context.Tag") ?? []
      return key === undefined
        ? undefined
        : `${printer.member("Context.Service")}<${printer.list([...node.typeArguments])}>()(${printer.print(key)})`
    }
  },
  {
    name: "Context.GenericTag is Context.Service",
    example: ["Context.GenericTag<A, B>(key)", "Context.Service<A, B>(key)"],
    print: (node, printer) =>
      printer.path(node) === "Context.GenericTag" ? printer.member("Context.Service") : undefined
  },
  {
    name: "a class of Context.Reference is a constant",
    example: [
      "export class A extends Context.Reference<A>()(\"a\", { defaultValue: f }) {}",
      "export const A = Context.Reference(\"a\", { defaultValue: f })"
    ],
    print: (node, printer) => {
      const base = isClassOf(node, printer, "Context.Reference")
      if (base === undefined) return undefined
      const exported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ? "export " : ""
      return `${exported}const ${node.name.text} = ${printer.member("Context.Reference")}(${
        printer.list([...base.arguments])
      })`
    }
  },
  call(
    "Effect.yieldNow",
    "Effect.yieldNow() is a value",
    ["Effect.yieldNow()", "Effect.yieldNow"],
    (args, printer) => args.length === 0 ? printer.member("Effect.yieldNow") : undefined
  ),
  call(
    "Effect.yieldNow",
    "Effect.yieldNow({ priority }) is yieldNowWith(priority)",
    ["Effect.yieldNow({ priority: 10 })", "Effect.yieldNowWith(10)"],
    ([options], printer) =>
      options === undefined || !ts.isObjectLiteralExpression(options)
        ? undefined
        : `${printer.member("Effect.yieldNowWith")}(${printer.print(member(options, "priority"))})`
  ),
  call(
    "Effect.repeatN",
    "Effect.repeatN(effect, n) is repeat(effect, { times: n })",
    ["Effect.repeatN(effect, 2)", "Effect.repeat(effect, { times: 2 })"],
    (args, printer) => {
      const before = args.slice(0, -1).map((arg) => `${printer.print(arg)}, `).join("")
      return `${printer.member("Effect.repeat")}(${before}{ times: ${printer.print(args.at(-1))} })`
    }
  ),
  call(
    "Effect.dieMessage",
    "Effect.dieMessage(text) is die(new Error(text))",
    ["Effect.dieMessage(text)", "Effect.die(new Error(text))"],
    ([text], printer) => `${printer.member("Effect.die")}(new Error(${printer.print(text)}))`
  ),
  {
    name: "Effect.gen(this, f) is gen({ self: this }, f)",
    example: ["Effect.gen(this, f)", "Effect.gen({ self: this }, f)"],
    print: (node, printer) => {
      const args = argumentsOf(node, printer, "Effect.gen")
      return args?.[0].kind === ts.SyntaxKind.ThisKeyword
        ? `${printer.member("Effect.gen")}({ self: this }, ${printer.list(args.slice(1))})`
        : undefined
    }
  },
  arrayCall("Schema.Union", "Schema.Union"),
  call(
    "Schema.Tuple",
    "Schema.Tuple([a], rest) is TupleWithRest",
    ["Schema.Tuple([A], B)", "Schema.TupleWithRest(Schema.Tuple([A]), [B])"],
    ([elements, ...rest], printer) =>
      elements !== undefined && ts.isArrayLiteralExpression(elements) && rest.length > 0
        ? `${printer.member("Schema.TupleWithRest")}(${printer.member("Schema.Tuple")}(${printer.print(elements)}), [${
          printer.list(rest)
        }])`
        : undefined
  ),
  arrayCall("Schema.Tuple", "Schema.Tuple"),
  arrayCall("Schema.TemplateLiteral", "Schema.TemplateLiteral"),
  {
    name: "Schema.Literal(a, b) is Literals([a, b])",
    example: ["Schema.Literal(1, 2)", "Schema.Literals([1, 2])"],
    print: (node, printer) => {
      const args = argumentsOf(node, printer, "Schema.Literal")
      return args === undefined || (args.length === 1 && !ts.isSpreadElement(args[0]))
        ? undefined
        : `${printer.member("Schema.Literals")}([${printer.list(args)}])`
    }
  },
  {
    name: "Schema.Literal<[A, B]> is Literals<[A, B]>",
    example: ["type T = Schema.Literal<[1, 2]>", "type T = Schema.Literals<[1, 2]>"],
    print: (node, printer) =>
      ts.isTypeReferenceNode(node) && printer.path(node.typeName) === "Schema.Literal" &&
        node.typeArguments?.length === 1 && ts.isTupleTypeNode(node.typeArguments[0])
        ? `${printer.member("Schema.Literals")}<${tuple(node.typeArguments[0], printer)}>`
        : undefined
  },
  {
    name: "Schema.Record({ key, value }) is Record(key, value)",
    example: ["Schema.Record({ key: A, value: B })", "Schema.Record(A, B)"],
    print: (node, printer) => {
      const [record] = argumentsOf(node, printer, "Schema.Record") ?? []
      if (record === undefined || !ts.isObjectLiteralExpression(record)) return undefined
      return `${printer.member("Schema.Record")}(${printer.list([member(record, "key"), member(record, "value")])})`
    }
  },
  {
    name: "Schema.Struct(fields, { key, value }) is StructWithRest",
    example: [
      "Schema.Struct({ a }, { key: A, value: B })",
      "Schema.StructWithRest(Schema.Struct({ a }), [Schema.Record(A, B)])"
    ],
    print: (node, printer) => {
      const [fields, rest] = argumentsOf(node, printer, "Schema.Struct") ?? []
      if (rest === undefined || !ts.isObjectLiteralExpression(rest)) return undefined
      const record = `${printer.member("Schema.Record")}(${printer.list([member(rest, "key"), member(rest, "value")])})`
      return `${printer.member("Schema.StructWithRest")}(${printer.member("Schema.Struct")}(${
        printer.print(fields)
      }), [${record}])`
    }
  },
  call(
    "Schema.filter",
    "Schema.filter(is) is check(makeFilter(is))",
    ["Schema.filter(is)", "Schema.check(Schema.makeFilter(is))"],
    (args, printer) =>
      `${printer.member("Schema.check")}(${printer.member("Schema.makeFilter")}(${printer.list(args)}))`
  ),
  call(
    "Schema.between",
    "Schema.between(a, b) is check(isBetween)",
    ["Schema.between(1, 2)", "Schema.check(Schema.isBetween({ minimum: 1, maximum: 2 }))"],
    ([a, b], printer) =>
      `${printer.member("Schema.check")}(${printer.member("Schema.isBetween")}({ minimum: ${
        printer.print(a)
      }, maximum: ${printer.print(b)} }))`
  ),
  call(
    "Schema.propertySignature",
    "Schema.propertySignature(s) is s",
    ["Schema.propertySignature(s)", "s"],
    ([schema], printer) => printer.print(schema)
  ),
  {
    name: "a schema that is a string keeps its type, as keys of records must",
    example: [
      "const A: Schema.Schema<string> = Schema.String.annotations({ a })",
      "const A: Schema.String = Schema.String.annotate({ a })"
    ],
    print: (node, printer) => {
      if (!ts.isVariableDeclaration(node) || node.type === undefined) return undefined
      if (printer.plainText(node.type) !== "Schema.Schema<string>") return undefined
      return /^Schema\.String\.annotations\(/.test(printer.plainText(node.initializer))
        ? printer.asIs(node, new Map([[node.type, printer.member("Schema.String")]]))
        : undefined
    }
  },
  {
    name: "the test data of a schema are made by fast-check, whose types version 4 does not know",
    example: [
      "Schema.String.annotations({ arbitrary: () => (fc) => f })",
      "Schema.String.annotate({ arbitrary: () => (fc: typeof import(\"fast-check\")) => f })"
    ],
    print: (node, printer) => {
      if (!printer.has("Schema") || !ts.isParameter(node) || node.type !== undefined || node.name.getText() !== "fc") {
        return undefined
      }
      return `${printer.plainText(node)}: typeof import("fast-check")`
    }
  },
  {
    name: "a schema is annotated by annotate",
    example: ["Schema.String.annotations({ title })", "Schema.String.annotate({ title })"],
    print: (node, printer) => {
      if (!printer.has("Schema") || !ts.isPropertyAccessExpression(node) || node.name.text !== "annotations") {
        return undefined
      }
      if (!ts.isCallExpression(node.parent) || node.parent.expression !== node) return undefined
      return printer.asIs(node, new Map([[node.name, "annotate"]]))
    }
  },
  {
    name: "Schema.PropertySignature.All and Schema.Annotable.All are Schema.Top",
    example: ["type T = Schema.PropertySignature.All | Schema.Annotable.All", "type T = Schema.Top"],
    print: (node, printer) => {
      const isAll = (type) =>
        ts.isTypeReferenceNode(type) &&
        /^Schema\.(PropertySignature|Annotable)\.All$/.test(printer.path(type.typeName) ?? "")
      return isAll(node) || (ts.isUnionTypeNode(node) && node.types.every(isAll))
        ? printer.member("Schema.Top")
        : undefined
    }
  },
  {
    name: "a schema of any type is Schema.Top",
    example: ["type T = Schema.Schema.Any", "type T = Schema.Top"],
    print: (node, printer) =>
      /^Schema\.Schema\.(Any|All)$/.test(printer.path(node) ?? "") ? printer.member("Schema.Top") : undefined
  },
  {
    name: "Schema.Schema<A, I, R> is Schema.Codec<A, I, R, R>",
    example: ["type T = Schema.Schema<A, I, R>", "type T = Schema.Codec<A, I, R, R>"],
    print: (node, printer) => {
      if (!ts.isTypeReferenceNode(node) || printer.path(node.typeName) !== "Schema.Schema") return undefined
      const [type, encoded, services] = node.typeArguments ?? []
      const of = [type, encoded, services, services].filter((one) => one !== undefined)
      return `${printer.member("Schema.Codec")}${of.length === 0 ? "" : `<${printer.list(of)}>`}`
    }
  },
  {
    name: "a test of @effect/vitest always has a scope",
    example: ["it.scoped(a, f), it.scopedLive(b, g)", "it.effect(a, f), it.live(b, g)"],
    print: (node, printer) => {
      if (!ts.isPropertyAccessExpression(node) || printer.plainText(node.expression) !== "it") return undefined
      const to = new Map([["scoped", "effect"], ["scopedLive", "live"]]).get(node.name.text)
      return to === undefined ? undefined : `it.${to}`
    }
  },
  {
    name: "a fiber that has not ended has no exit, rather than null",
    example: ["fiber.unsafePoll() === null", "(fiber.pollUnsafe() ?? null) === null"],
    print: (node, printer) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) &&
        node.expression.name.text === "unsafePoll"
        ? `(${printer.print(node.expression.expression)}.pollUnsafe() ?? null)`
        : undefined
  },
  arrayCall("Schedule.union", "Schedule.min"),
  arrayCall("Schedule.intersect", "Schedule.max"),
  {
    name: "onLeft and onRight are onFailure and onSuccess",
    example: ["Either.match(e, { onLeft: f, onRight: g })", "Result.match(e, { onFailure: f, onSuccess: g })"],
    print: (node, printer) => {
      if (!printer.usesEither || !ts.isPropertyAssignment(node) && !ts.isMethodDeclaration(node)) return undefined
      const to = new Map([["onLeft", "onFailure"], ["onRight", "onSuccess"]]).get(node.name.text)
      return to === undefined ? undefined : printer.asIs(node, new Map([[node.name, to]]))
    }
  },
  {
    name: "the tags of an Either are those of a Result",
    example: ["Either.right(e._tag === \"Left\")", "Result.succeed(e._tag === \"Failure\")"],
    print: (node, printer) =>
      printer.usesEither && ts.isStringLiteral(node)
        ? new Map([["Left", "\"Failure\""], ["Right", "\"Success\""]]).get(node.text)
        : undefined
  },
  {
    name: "the values of an Either are those of a Result",
    example: ["Either.right(e.left)", "Result.succeed(e.failure)"],
    print: (node, printer) => {
      if (!printer.usesEither || !ts.isPropertyAccessExpression(node) || printer.path(node) !== undefined) {
        return undefined
      }
      const to = new Map([["left", "failure"], ["right", "success"]]).get(node.name.text)
      return to === undefined ? undefined : printer.asIs(node, new Map([[node.name, to]]))
    }
  },
  {
    name: "spans have no captureStackTrace",
    example: ["Effect.x({ captureStackTrace: false, a })", "Effect.x({ a })"],
    print: (node, printer) => {
      if (!ts.isObjectLiteralExpression(node)) return undefined
      const rest = node.properties.filter((one) => one.name?.text !== "captureStackTrace")
      return rest.length === node.properties.length ? undefined : `{ ${printer.list(rest)} }`
    }
  },
  call(
    "Logger.replace",
    "Logger.replace(a, b) is layer([b])",
    ["Logger.replace(a, b)", "Logger.layer([b])"],
    ([, by], printer) => `${printer.member("Logger.layer")}([${printer.print(by)}])`
  ),
  {
    name: "HttpApp.Default is an effect",
    example: [
      "type T = HttpApp.Default<E, R>",
      "type T = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest>"
    ],
    print: (node, printer) => {
      if (!ts.isTypeReferenceNode(node) || printer.path(node.typeName) !== "HttpApp.Default") return undefined
      const [error, services] = (node.typeArguments ?? []).map((one) => printer.print(one))
      const request = printer.member("HttpServerRequest.HttpServerRequest")
      return `${printer.member("Effect.Effect")}<${printer.member("HttpServerResponse.HttpServerResponse")}, ${
        error ?? "never"
      }, ${services === undefined ? request : `${services} | ${request}`}>`
    }
  }
]
