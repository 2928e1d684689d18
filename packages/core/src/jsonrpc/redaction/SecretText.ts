/**
 * Finds secrets in a text that may not be JSON, such as a line of a log, a broken message, a URL, a file of settings or a command line.
 * `Redaction` calls `redact`. The module hides two things. One is the value after a name that announces a secret. The other is text that
 * has the form of a secret: credentials of HTTP, JSON Web Tokens, private keys, keys of known services, user and password of a URL.
 *
 * The text comes from a peer. Therefore the time of each pattern must grow at most linearly with the length of the text. For this, each
 * repetition has a limit, or stops at the first character with which the next match can begin. `SecretNames` has the names. `Redaction`
 * handles values.
 */
import * as SecretNames from "./SecretNames.js"

/** The text that replaces a secret. */
export const HIDDEN = "<hidden>"

/** Returns a text without its secrets. */
export const redact = (text: string): string =>
  MAY_HOLD.test(text)
    ? (SecretNames.mayAnnounce(text) ? behindNames(text) : text)
      .replace(OPTION, (all: string, name: string, space: string) =>
        SecretNames.kindOf(name) === "strong" ? `${name}${space}${HIDDEN}` : all)
      .replace(ELEMENT, (all: string, name: string, tag: string) =>
        SecretNames.kindOf(name) === "strong" ? `${tag}${HIDDEN}` : all)
      .replace(LOGIN, `$1${HIDDEN}`)
      .replace(USER_INFO, `$1${HIDDEN}@`)
      .replace(CREDENTIALS, HIDDEN)
      .replace(FORMS, HIDDEN)
    : text

/** Matches every text that has a secret. Most texts do not match, so they need no further check. */
const MAY_HOLD = /[:=@,<]|%3[ad]|--|-u\s|(?:bearer|basic|dpop|negotiate)(?:\s|%20|\+)|eyJ|[_.-]\w{8}|AKIA|ASIA|AIza/i

/** An option of a command and its value, such as `--password hunter2`. */
const OPTION =
  /(?<![\w-])(--?[a-z][\w-]{0,60})(\s{1,10})(?!<hidden>|--?[a-z])(?:"[^"\n]{1,1000}"?|'[^'\n]{1,1000}'?|[^\s"']+)/gi

/** An element of XML, such as `<password>hunter2</password>`. */
const ELEMENT = /(?=<([\w:.-]{1,60})(?=[\s>]))(<[^<>]{1,300}>(?:<!\[CDATA\[)?)[^<]+/g

/** The user and password in a command, such as `curl -u ada:hunter2`. */
const LOGIN = /((?:^|\s)(?:-u|--user)[\s=]\s{0,10}["']?)[^\s:"']{1,200}:[^\s"']+/g

/** The user and password in a URL, such as `postgres://ada:hunter2@host`. A port and a path before an `@` are not a user and a password. */
const USER_INFO = /(\/\/)(?:[^\s"'<>:/@?#\\]*:(?!\d{1,5}[/?#])(?:(?!\/\/)[^\s"'<>])*|[^\s"'<>/?#@\\]+)@/g

/** Credentials of HTTP, such as `Bearer hunter2`. `Bearer realm="…"` and `bearer tokens` are not credentials. */
const CREDENTIALS =
  /\b(?:bearer|basic|dpop|negotiate)(?:\s|%20|\+){1,20}(?!<hidden>|(?:realm|scope|error|error_description|resource_metadata|token|tokens|auth|authentication|authorization|scheme|credentials|challenge)(?![\w~+/-]|\.\w|=[^"]))["'`\\]{0,4}[\w.~+/=%-]+/gi

/** Texts that have the form of a secret. */
const FORMS = new RegExp(
  [
    // A token may be incomplete at the end of a text that was cut.
    String.raw`(?<![\w-])eyJ[\w-]*\.(?:[\w-]+\.[\w-]*(?:\.[\w-]*){0,2}|[\w-]*$)`,
    String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----[^]*?(?:-----END [A-Z ]{0,60}-----|$)`,
    String.raw`(?<![\w-])(?:sk|rk)[-_][\w-]{16,}`,
    String.raw`(?<!\w)(?:gh[opusr]_|github_pat_|npm_|hf_|glpat-|xox[a-z]-|xapp-|ya29\.)[\w.-]{16,}`,
    String.raw`(?<!\w)(?:AKIA|ASIA)[A-Z\d]{16}(?!\w)`,
    String.raw`(?<!\w)AIza[\w-]{30,}`,
    String.raw`(?<=hooks\.slack\.com/services/)[\w/]+`
  ].join("|"),
  "g"
)

/** The characters that separate a name from its value. The comma is for lists such as `["authorization", "hunter2"]`. */
const SEPARATOR = /[:=,]|%3[ad]/gi

/** A name that is followed by a separator. */
interface Named {
  readonly name: string
  readonly kind: SecretNames.Kind
  readonly isQuoted: boolean
  /** Whether the name is a parameter of a URL. */
  readonly isParameter: boolean
  /** Whether the name is at the beginning of a line. */
  readonly isFirst: boolean
  readonly separator: string
}

type Span = readonly [start: number, end: number]

const behindNames = (text: string): string => {
  let shown = ""
  let from = 0
  const pairs = pairsOf(text)
  const separators = new RegExp(SEPARATOR)
  for (let match = separators.exec(text); match !== null; match = separators.exec(text)) {
    if (match[0] === "," && !QUOTES.test(text[match.index - 1] ?? "")) continue
    const named = nameBefore(text, match.index, match[0], from)
    const at = match.index + match[0].length
    const isValue = pairs(named, at)
    const span = isValue || isSecret(named)
      ? valueAt(text, at, isValue ? { ...named, kind: "strong" } : named)
      : undefined
    if (span === undefined) continue
    shown += text.slice(from, span[0]) + HIDDEN
    from = span[1]
    separators.lastIndex = from
  }
  return from === 0 ? text : shown + text.slice(from)
}

/**
 * Returns a function that says whether other members of an object announce that the value of a member is a secret. Call the function for
 * each name, in the order of the text.
 */
const pairsOf = (text: string): (named: Named, at: number) => boolean => {
  const hasKeys = /["']kty/.test(text)
  let pairEnds = 0
  return ({ isQuoted, name }, at) => {
    if (PAIR_NAME.test(name) && announces(text, at)) pairEnds = at + MAX_PAIR
    return PAIR_VALUE.test(name)
      ? at <= pairEnds || namedAfter(text, at)
      : hasKeys && isQuoted && SecretNames.PRIVATE_KEY_MEMBERS.has(name)
  }
}

/** Names of the members of a pair such as `{"name": "authorization", "value": "hunter2"}`. `PAIR_VALUE` matches the second member. */
export const PAIR_NAME = /^(?:name|key|header|field|variable|param|parameter|label|id)$/i
export const PAIR_VALUE = /^(?:values?|val)$/i

/** How many characters may be between the two members of a pair. */
const MAX_PAIR = 500

const QUOTED_NAME = /\s{0,10}\\{0,160}["'`]?([\w.-]{2,100})/y

const announces = (text: string, at: number): boolean => {
  QUOTED_NAME.lastIndex = at
  const found = QUOTED_NAME.exec(text)
  return found !== null && SecretNames.kindOf(found[1]!) === "strong"
}

/** Whether the name of a pair follows its value and announces a secret, as in `"value": "hunter2", "name": "authorization"`. */
const namedAfter = (text: string, at: number): boolean => {
  AFTER.lastIndex = at
  const found = AFTER.exec(text)
  return found !== null && PAIR_NAME.test(found[1]!) && SecretNames.kindOf(found[2]!) === "strong"
}

const AFTER =
  /\s{0,10}\\{0,160}["'][^"'\n]{0,500}["']\s{0,10},?\s{0,10}\\{0,160}["']?(\w{2,10})\\{0,160}["']?\s{0,10}[:=]\s{0,10}\\{0,160}["']([\w.-]{2,100})/y

const isSecret = ({ isParameter, isQuoted, kind, name, separator }: Named): boolean =>
  separator === ","
    ? kind === "strong" && isQuoted && (/^[-[]/.test(name) || HEADER.test(name))
    : kind === "query"
    ? isParameter
    : kind !== "none"

/** Names of headers, in a list in which names and values alternate. */
const HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]+)$/i

const MAX_NAME = 128
/** How many backslashes may be before a quote. JSON in JSON doubles them at each level. */
const MAX_SLASHES = 160

const SPACES = /\s/
const QUOTES = /["'`\\“”]/
const OF_NAMES = /[\w.$/@\u00c0-\uffff-]/
const OF_QUOTED_NAMES = /[\w.$/@\u00c0-\uffff -]/

const nameBefore = (text: string, at: number, separator: string, least: number): Named => {
  const quoted = back(text, at, Math.max(least, at - 10), SPACES)
  const end = back(text, quoted, Math.max(least, quoted - MAX_SLASHES), QUOTES)
  const isQuoted = end < quoted
  const begin = beginOf(text, end, Math.max(least, end - MAX_NAME), isQuoted)
  // `%3Fcode` is `?code` in percent-encoding.
  const isEncoded = text[begin - 1] === "%" && /^(?:3f|26|23)$/i.test(text.slice(begin, begin + 2))
  const name = text.slice(isEncoded ? begin + 2 : begin, end)
  const before = isQuoted ? back(text, begin, Math.max(least, begin - MAX_SLASHES), QUOTES) : begin
  const first = before > 0 ? text[before - 1]! : "\n"
  return {
    name: separator === "," && OPENED.test(text.slice(Math.max(0, before - 40), before)) ? `[${name}` : name,
    kind: isQuoted || !name.includes(" ") ? SecretNames.kindOf(name) : ofTwoWords(name),
    isQuoted,
    isParameter: isEncoded || /[?&#;]/.test(first),
    isFirst: /[\r\n]/.test(first) || /^(?:export|set|env) /.test(name),
    separator
  }
}

/** Goes back from `end` over characters of this kind, at most to `least`. Returns the start of these characters. */
const back = (text: string, end: number, least: number, kind: RegExp): number => {
  let start = end
  while (start > least && kind.test(text[start - 1]!)) start--
  return start
}

/**
 * Returns the position at which a name begins. A quoted name may contain spaces. Any other name may contain one space, as in `api key: …`.
 */
const beginOf = (text: string, end: number, least: number, isQuoted: boolean): number => {
  const begin = back(text, end, least, isQuoted ? OF_QUOTED_NAMES : OF_NAMES)
  return isQuoted || begin === least || text[begin - 1] !== " " ? begin : back(text, begin - 1, least, OF_NAMES)
}

/**
 * Returns what a name of two words says about its value. In a sentence, the first word often does not belong to the name, as in
 * `Bearer realm=…`. It belongs to the name before words such as `key`, as in `api key: …`.
 */
const ofTwoWords = (name: string): SecretNames.Kind => {
  const last = name.slice(name.indexOf(" ") + 1)
  return /^(?:keys?|codes?|ids?|phrase|string|value|hash)$/i.test(last)
    ? SecretNames.kindOf(name)
    : SecretNames.kindOf(last)
}

const OPENED = /\[(?:\s|\\+[nrt])*$/

const SCHEME = /(?:bearer|basic|dpop|token|apikey|negotiate)(?:\s|%20|\+){1,20}/iy
/** White space. In JSON text inside JSON text, white space may be an escape with backslashes. */
const SPACE = String.raw`(?:\s|\\{1,160}[nrt])`

/** The text that may be between a separator and a value: the rest of the separator, white space, and the start of a YAML block text. */
const BEFORE_VALUE = new RegExp(
  String.raw`[=>~]{0,20}(?:\s|\\{1,160}[nrt](?=[\s"'\\])){0,40}` +
    String.raw`(?:[|>][-+]?(?:[ \t]|\\{1,160}[rt]){0,10}(?:[\r\n]|\\{1,160}[nr])${SPACE}{0,40})?`,
  "y"
)
const EMPTY = /(?:true|false|null|undefined|\{\s*\}|\[\s*\])(?!\w)/y

/** Returns the start and the end of the value after a separator; `undefined` when there is nothing to hide. */
const valueAt = (text: string, at: number, named: Named): Span | undefined => {
  BEFORE_VALUE.lastIndex = at
  const start = at + BEFORE_VALUE.exec(text)![0].length
  OPENING.lastIndex = start
  const opening = OPENING.exec(text)
  if (text.startsWith(HIDDEN, start) || isEmpty(text, start)) return undefined
  if (opening !== null) {
    const [all, slashes, quote] = opening
    return ofQuoted(text, start + all.length, quote === "“" ? "”" : quote!, slashes!.length, named)
  }
  if (named.separator === ",") return undefined
  if (named.isQuoted && (text[start] === "{" || text[start] === "[")) return [start, closing(text, start)]
  return ofPlain(text, start, named)
}

const OPENING = /(\\*)(["'`“])/y

const isEmpty = (text: string, start: number): boolean => {
  EMPTY.lastIndex = start
  return EMPTY.test(text)
}

/** Returns the place of a value in quotes. In JSON text inside JSON text, backslashes escape the quotes. */
const ofQuoted = (
  text: string,
  start: number,
  quote: string,
  slashes: number,
  { kind, separator }: Named
): Span | undefined => {
  let end = text.indexOf(quote, start)
  while (end !== -1 && slashesBefore(text, end, start) > slashes) end = text.indexOf(quote, end + 1)
  const last = end === -1 ? text.length : Math.max(start, end - slashes)
  // A text that a colon follows is the name of the next member, and not a value.
  if (separator === "," && end !== -1 && /^\s*:/.test(text.slice(end + 1, end + 10))) return undefined
  return last === start || isShown(text.slice(start, Math.min(last, start + 20)), kind) ? undefined : [start, last]
}

const slashesBefore = (text: string, at: number, least: number): number => {
  let count = 0
  while (at - count > least && text[at - count - 1] === "\\") count++
  return count
}

/** Whether a value is a number that is not a secret, as in `tokens: 512` or `code: -32601`. */
const isShown = (value: string, kind: SecretNames.Kind): boolean =>
  (kind === "text" && /^-?[\d.]{1,15}$/.test(value)) || (kind === "code" && /^-?\d{1,5}$/.test(value))

/** Returns the end of the object or array that begins at `start`. */
const closing = (text: string, start: number): number => {
  const tokens = /[{}[\]]|\\{0,160}"/g
  tokens.lastIndex = start
  let depth = 0
  let quote: string | undefined
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token] = match
    if (token.endsWith("\"")) {
      if (quote === undefined) quote = token
      else if (token.length <= quote.length) quote = undefined
    } else if (quote === undefined) {
      depth += token === "{" || token === "[" ? 1 : -1
      if (depth === 0) return match.index + 1
    }
  }
  return text.length
}

const LINE = /[^\r\n"]*/y
const TO_LINE_END = /[^\r\n]*/y
const WORD = /[^\s&"'`>][^\s&"'`<>]*/y
const PARAMETER = /[^\s&"'`<>#]+/y
const ENCODED = /(?:(?!%26|%23)[^\s&"'`<>#])+/iy
const JSON_WORD = /[^\s,}\]]+/y

const ofPlain = (text: string, start: number, named: Named): Span | undefined => {
  SCHEME.lastIndex = start
  const scheme = SCHEME.exec(text)?.[0].length ?? 0
  const pattern = patternOf(text, start + scheme, scheme > 0, named)
  pattern.lastIndex = start + scheme
  const found = pattern.exec(text)?.[0] ?? ""
  const value = pattern === WORD ? found.replace(/[,;.)\]}\\]{1,20}$/, "") : found
  return value === "" || isShown(value, named.kind) ? undefined : [start, start + scheme + value.length]
}

const patternOf = (text: string, start: number, hasScheme: boolean, named: Named): RegExp => {
  if (named.separator.length > 1) return ENCODED
  if (named.isParameter) return PARAMETER
  if (!hasScheme && /(?:authorization|cookie)$/i.test(named.name)) return LINE
  if (named.isQuoted) return JSON_WORD
  TO_LINE_END.lastIndex = start
  return named.isFirst && named.separator === "=" && !/&[\w.-]{1,60}=/.test(TO_LINE_END.exec(text)![0].slice(0, 1000))
    ? TO_LINE_END
    : WORD
}
