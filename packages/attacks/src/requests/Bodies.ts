/**
 * Requests with hostile bodies: bytes that are not text, text that is not JSON, JSON that is not a message, messages that are deep, wide or
 * long, and values of a wrong kind.
 */
import { grows } from "../Growth.js"
import { attack, echo, type HttpAttack, request } from "./Request.js"

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1")

const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

const withText = (text: string): string => call(`{"name":"echo","arguments":{"text":${text}}}`)

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth)

const notUtf8: ReadonlyArray<readonly [name: string, body: Uint8Array]> = [
  ["a lone 0xff", latin(echo.replace("hello", "\xff"))],
  ["an overlong slash", latin(echo.replace("hello", "\xc0\xaf"))],
  ["an overlong NUL", latin(echo.replace("hello", "\xc0\x80"))],
  ["a surrogate in UTF-8", latin(echo.replace("hello", "\xed\xa0\x80"))],
  ["a code point beyond Unicode", latin(echo.replace("hello", "\xf4\x90\x80\x80"))],
  ["a continuation without beginning", latin(echo.replace("hello", "\x80"))],
  ["a character that is cut off", latin(echo.replace("hello", "\xe2\x82"))],
  ["a character cut off at the end", latin(echo + "\xe2")],
  ["UTF-16 with a mark", Buffer.from("\ufeff" + echo, "utf16le")],
  ["gzip without saying so", Buffer.from("1f8b0800000000000003", "hex")],
  ["four kilobytes of 0xff", Buffer.alloc(4096, 0xff)]
]

const notJson: ReadonlyArray<readonly [name: string, body: string | Uint8Array]> = [
  ["an empty body", ""],
  ["spaces", " ".repeat(1000)],
  ["a NUL byte", "\0"],
  ["a NUL byte behind the message", echo + "\0"],
  ["two messages", echo + echo],
  ["two lines", echo + "\n" + echo],
  ["half a message", echo.slice(0, 40)],
  ["a single quote", "{'jsonrpc':'2.0'}"],
  ["a trailing comma", echo.replace("}}}", "}},}")],
  ["a comment", "/* hi */" + echo],
  ["NaN", withText("NaN")],
  ["Infinity", withText("-Infinity")],
  ["undefined", withText("undefined")],
  ["a hexadecimal number", withText("0x10")],
  ["a leading zero", withText("007")],
  ["a lone escape", withText("\"\\\"")],
  ["an unknown escape", withText("\"\\x41\"")],
  ["a line feed in a string", withText("\"a\nb\"")],
  ["XML", "<methodCall/>"],
  ["a form", "jsonrpc=2.0&id=1&method=ping"],
  ["UTF-16 without a mark", Buffer.from(echo, "utf16le")],
  ["UTF-32", Buffer.from([...echo].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]))]
]

const noMessage: ReadonlyArray<readonly [name: string, body: string]> = [
  ["null", "null"],
  ["true", "true"],
  ["a number", "42"],
  ["a string", "\"ping\""],
  ["an empty object", "{}"],
  ["an empty array", "[]"],
  ["no version", echo.replace("\"jsonrpc\":\"2.0\",", "")],
  ["version 1.0", echo.replace("\"2.0\"", "\"1.0\"")],
  ["a number as version", echo.replace("\"2.0\"", "2")],
  ["an object as id", echo.replace("\"id\":1", "\"id\":{}")],
  ["an array as id", echo.replace("\"id\":1", "\"id\":[1]")],
  ["true as id", echo.replace("\"id\":1", "\"id\":true")],
  ["null as id", echo.replace("\"id\":1", "\"id\":null")],
  ["a number as method", echo.replace("\"tools/call\"", "7")],
  ["null as method", echo.replace("\"tools/call\"", "null")],
  ["an array as params", call("[1,2]")],
  ["a string as params", call("\"x\"")],
  ["a number as params", call("7")],
  [
    "__proto__ as a member",
    call("{\"name\":\"echo\",\"__proto__\":{\"polluted\":true},\"arguments\":{\"text\":\"a\"}}")
  ],
  ["__proto__ in arguments", withText("\"a\",\"__proto__\":{\"x\":1}")],
  ["__proto__ written with escapes", withText("\"a\",\"\\u005f\\u005fproto\\u005f\\u005f\":{\"x\":1}")],
  ["a batch", `[${echo},${echo}]`],
  ["a batch of a batch", `[[${echo}]]`],
  ["65 levels", withText(nested(65, "[", "]"))],
  ["a result and an error", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"x\"}}"],
  ["an id and nothing else", "{\"jsonrpc\":\"2.0\",\"id\":1}"],
  ["a string as error", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}"]
]

/** Requests that are messages: the server serves them, or refuses them with an error in a 200 or a 400. */
const served: ReadonlyArray<readonly [name: string, body: string, code?: number]> = [
  ["an unknown method", echo.replace("tools/call", "x/y"), -32601],
  ["the method constructor", echo.replace("tools/call", "constructor"), -32601],
  ["the method __proto__", echo.replace("tools/call", "__proto__"), -32601],
  ["the method toString", echo.replace("tools/call", "toString"), -32601],
  ["an empty method", echo.replace("tools/call", ""), -32601],
  ["the tool constructor", call("{\"name\":\"constructor\"}"), -32602],
  ["the tool __proto__", call("{\"name\":\"__proto__\"}"), -32602],
  ["a number as tool name", call("{\"name\":7}"), -32602],
  ["an array as arguments", call("{\"name\":\"echo\",\"arguments\":[]}"), -32602],
  ["a string as arguments", call("{\"name\":\"echo\",\"arguments\":\"x\"}"), -32602],
  [
    "a subscription to an object",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":{}}}",
    -32602
  ],
  [
    "a cursor of digits",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"999999999999999999999\"}}",
    -32602
  ],
  ["a second initialize", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"],
  ["a text with lone surrogates", withText("\"\\ud800\\udfff\\udc00\"")],
  ["a text with NUL characters", withText("\"\\u0000\\u0000\"")],
  ["a number beyond every number", withText("1e99999")],
  ["the id 1e308", echo.replace("\"id\":1", "\"id\":1e308")],
  ["the id -0", echo.replace("\"id\":1", "\"id\":-0")],
  ["the id 0.5", echo.replace("\"id\":1", "\"id\":0.5")],
  ["an empty id", echo.replace("\"id\":1", "\"id\":\"\"")],
  ["a duplicate member", echo.replace("\"id\":1", "\"id\":2,\"id\":1")],
  ["a member constructor", withText("\"a\",\"constructor\":{\"prototype\":{\"x\":1}}")],
  ["a byte order mark", "\ufeff" + echo],
  ["white space around the message", " \t\r\n" + echo + "\r\n\t "]
]

const refused = ["400", "202"]
const answered = ["200", "400"]

const level = (value: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":${value}}}`

const members = (size: number): string => `{${Array.from({ length: size }, (_, n) => `"k${n}":0`).join(",")}}`

/** Bodies of any size: each body is sent at this size and at a quarter of this size. */
const growing: ReadonlyArray<
  readonly [name: string, size: number, body: (size: number) => string, expect: ReadonlyArray<string>, code?: number]
> = [
  ["opening brackets", 1_000_000, (size) => "[".repeat(size), ["400"]],
  ["opening braces", 200_000, (size) => "{\"a\":".repeat(size), ["400"]],
  ["quotes", 3_000_000, (size) => "\"".repeat(size), ["400"]],
  ["backslashes in a string", 3_000_001, (size) => "\"" + "\\".repeat(size), ["400"]],
  ["characters of a string without end", 3_000_000, (size) => "{\"a\":\"" + "x".repeat(size), ["400"]],
  ["levels", 100_000, (size) => withText(nested(size, "[", "]")), refused],
  ["levels of objects", 200_000, (size) => withText("{\"a\":".repeat(size) + "1" + "}".repeat(size)), refused],
  ["numbers", 1_000_000, (size) => withText(`[${"1,".repeat(size)}1]`), refused],
  ["members", 300_000, (size) => withText(members(size)), refused],
  ["messages of a batch", 20_000, (size) => `[${Array(size).fill(echo).join(",")}]`, refused],
  ["empty objects", 150_000, (size) => withText(`[${"{},".repeat(size)}{}]`), refused],
  ["characters", 3_000_000, (size) => withText(`"${"x".repeat(size)}"`), answered],
  ["escapes", 500_000, (size) => withText(`"${"\\u0041".repeat(size)}"`), answered],
  ["numbers where a text should be", 80_000, (size) => withText(`[${"1,".repeat(size)}1]`), answered],
  ["characters of an id", 1_000_000, (size) => echo.replace("\"id\":1", `"id":"${"i".repeat(size)}"`), answered],
  ["spaces in the message", 3_000_000, (size) => echo.replace("{\"name\"", `{${" ".repeat(size)}"name"`), ["200"]],
  ["characters of a method", 3_000_000, (size) => echo.replace("tools/call", "m".repeat(size)), answered, -32601],
  ["characters of a tool name", 3_000_000, (size) => call(`{"name":"${"n".repeat(size)}"}`), answered, -32602],
  ["members of a tool name", 90_000, (size) => call(`{"name":${members(size)}}`), answered, -32602],
  ["numbers of a level", 90_000, (size) => level(`[${"1,".repeat(size)}1]`), answered, -32602],
  ["characters of a level", 3_000_000, (size) => level(`"${"l".repeat(size)}"`), answered, -32602],
  [
    "members of a progress token",
    90_000,
    (size) => call(`{"name":"echo","_meta":{"progressToken":${members(size)}}}`),
    answered,
    -32602
  ],
  [
    "characters of a cursor",
    3_000_000,
    (size) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"${"c".repeat(size)}"}}`,
    answered,
    -32602
  ]
]

/** A call in chunks of one byte. */
const byteByByte = (length: number): HttpAttack["send"] => (context) => [
  request(context, { headers: { "content-length": undefined, "transfer-encoding": "chunked" }, body: "" }),
  Array.from(withText(`"${"x".repeat(length)}"`), (character) => `1\r\n${character}\r\n`).join(""),
  "0\r\n\r\n"
]

const halves: ReadonlyArray<HttpAttack> = [
  {
    name: "a body that never comes",
    expect: ["waits"],
    send: (context) => [request(context, { headers: { "content-length": "100" }, body: "" })]
  },
  {
    name: "half a body",
    expect: ["waits"],
    send: (context) => [request(context, { headers: { "content-length": "500" } })]
  },
  {
    name: "a body sent byte by byte",
    expect: ["200"],
    send: (context) => [...request(context)].map((byte) => Buffer.of(byte))
  },
  grows(200_000, (size) => ({
    name: "a body in 200,000 chunks of one byte",
    expect: ["200"],
    send: byteByByte(size)
  })),
  grows(20_000_000, (size) => ({
    name: "a body of 20 MB",
    expect: ["413"],
    send: (context) => [request(context, { body: withText(`"${"x".repeat(size)}"`) })]
  })),
  grows(320, (size) => ({
    name: "chunks of 20 MB in all",
    expect: ["413", "cut"],
    send: (context) => [
      request(context, { headers: { "content-length": undefined, "transfer-encoding": "chunked" }, body: "" }),
      ...Array.from({ length: size }, () => "10000\r\n" + "x".repeat(65_536) + "\r\n"),
      "0\r\n\r\n"
    ]
  }))
]

export const attacks: ReadonlyArray<HttpAttack> = [
  ...notUtf8.map(([name, body]) => attack(`body: ${name}`, "400", { body }, { code: -32700 })),
  ...notJson.map(([name, body]) => attack(`body: ${name}`, "400", { body })),
  ...noMessage.map(([name, body]) => attack(`body: ${name}`, ["400", "202"], { body })),
  ...served.map(([name, body, code]) => attack(`body: ${name}`, ["200", "400"], { body }, { code })),
  ...growing.map(([name, size, body, expect, code]) =>
    grows(
      size,
      (length) => attack(`body: ${size.toLocaleString("en")} ${name}`, expect, { body: body(length) }, { code })
    )
  ),
  ...halves
]
