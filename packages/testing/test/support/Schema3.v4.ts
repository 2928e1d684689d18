/**
 * The schemas of version 3 that version 4 has not, made with the functions of version 4, for tests: `Module_member` is what `Module.member`
 * was, as in `Effect3` of the kit.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"

type Any = Schema.Codec<any, any, any, any>

interface Optional {
  readonly as?: "Option" | undefined
  readonly default?: (() => unknown) | undefined
  readonly exact?: boolean | undefined
  readonly nullable?: boolean | undefined
}

const optionalWith = (self: any, { as, default: value, exact, nullable }: Optional): any => {
  if (as === "Option") {
    const schema = nullable ? Schema.NullOr(self) : self
    return exact ? Schema.OptionFromOptionalKey(schema) : Schema.OptionFromOptional(schema)
  }
  if (value === undefined) {
    return exact
      ? Schema.optionalKey(self)
      : Schema.optional(nullable ? Schema.NullOr(self) : self)
  }
  if (nullable) {
    return Schema.optional(Schema.NullOr(Schema.toEncoded(self))).pipe(
      Schema.decodeTo(self, {
        decode: SchemaGetter.transformOptional((given: Option.Option<any>) =>
          Option.some(
            Option.getOrElse(Option.filter(given, (one) => one != null), () => Schema.encodeUnknownSync(self)(value()))
          )
        ),
        encode: SchemaGetter.passthrough({ strict: false })
      })
    )
  }
  const given = Effect.sync(value)
  return self.pipe(
    exact ? Schema.withDecodingDefaultTypeKey(given) : Schema.withDecodingDefaultType(given),
    Schema.withConstructorDefault(given)
  )
}

export const Schema_optionalWith = (...args: [any, any] | [any]): any =>
  args.length === 2 ? optionalWith(...args) : (self: any) => optionalWith(self, args[0])

const checked = (check: (...args: Array<any>) => any) => (...args: Array<any>) => (self: any): any =>
  self.check(check(...args))

export const Schema_pattern = checked(Schema.isPattern)
export const Schema_minLength = checked(Schema.isMinLength)
export const Schema_maxLength = checked(Schema.isMaxLength)
export const Schema_length = checked((length: any, annotations?: any) =>
  typeof length === "number"
    ? Schema.isBetweenLength(length, length, annotations)
    : Schema.isBetweenLength(length.min, length.max, annotations)
)
export const Schema_startsWith = checked(Schema.isStartingWith)
export const Schema_endsWith = checked(Schema.isEndingWith)
export const Schema_includes = checked(Schema.isIncluding)
export const Schema_minItems = checked(Schema.isMinLength)
export const Schema_maxItems = checked(Schema.isMaxLength)
export const Schema_itemsCount = checked((count: number, annotations?: any) =>
  Schema.isBetweenLength(count, count, annotations)
)
export const Schema_int = checked(Schema.isInt)
export const Schema_positive = checked((annotations?: any) => Schema.isGreaterThan(0, annotations))
export const Schema_greaterThan = checked(Schema.isGreaterThan)
export const Schema_greaterThanOrEqualTo = checked(Schema.isGreaterThanOrEqualTo)
export const Schema_lessThan = checked(Schema.isLessThan)
export const Schema_lessThanOrEqualTo = checked(Schema.isLessThanOrEqualTo)
export const Schema_multipleOf = checked(Schema.isMultipleOf)
export const Schema_Positive = Schema.Number.check(Schema.isGreaterThan(0))
export const Schema_NonNegative = Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))
export const Schema_Uppercased = Schema.String.check(Schema.isUppercased())
export const Schema_Lowercased = Schema.String.check(Schema.isLowercased())
export const Schema_Capitalized = Schema.String.check(Schema.isCapitalized())

export const Schema_Date = Schema.DateFromString
export const Schema_DateFromSelf = Schema.Date
export const Schema_DateTimeUtc = Schema.DateTimeUtcFromString
export const Schema_BigInt = Schema.BigIntFromString
export const Schema_BigIntFromSelf = Schema.BigInt
export const Schema_URL = Schema.URLFromString

export const Schema_Enums = Schema.Enum
export const Schema_standardSchemaV1 = Schema.toStandardSchemaV1
export const Schema_optionalElement = Schema.optionalKey
export const Schema_mutable = (self: any): any => self

export const Schema_transform = (from: any, to: any, { decode, encode }: any): any =>
  from.pipe(Schema.decodeTo(to, SchemaTransformation.transform({ decode, encode })))

export const Schema_transformOrFail = (from: any, to: any, { decode, encode }: any): any =>
  from.pipe(Schema.decodeTo(to, SchemaTransformation.transformEffect({ decode, encode })))

export const Schema_compose = (to: Any) => (from: any): any => from.pipe(Schema.decodeTo(to))

export const Schema_transformLiterals = (...pairs: ReadonlyArray<readonly [any, any]>): any =>
  Schema.Union(pairs.map(([from, to]) =>
    Schema.Literal(from).pipe(
      Schema.decodeTo(Schema.Literal(to), SchemaTransformation.transform({ decode: () => to, encode: () => from }))
    )
  ))

export const Schema_split = (separator: string): any =>
  Schema.String.pipe(Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transform({
      decode: (text: string): ReadonlyArray<string> => text.split(separator),
      encode: (texts: ReadonlyArray<string>) => texts.join(separator)
    })
  ))

export const Schema_propertySignature = (self: any): any => self

export const Schema_BooleanFromString = Schema.Literals(["true", "false"]).pipe(Schema.decodeTo(
  Schema.Boolean,
  SchemaTransformation.transform({
    decode: (text: "true" | "false") => text === "true",
    encode: (is: boolean) => is ? "true" as const : "false" as const
  })
))

/** As in version 3, a text that is not a number is refused. */
export const Schema_NumberFromString = Schema.FiniteFromString

export const Schema_DateFromNumber = Schema.DateFromMillis
export const Schema_ULID = Schema.String.check(Schema.isULID())

export const Schema_Lowercase = Schema.String.pipe(
  Schema.decodeTo(Schema_Lowercased, SchemaTransformation.toLowerCase())
)

/** Equal when the encoded values are: for version 4, a member that is `undefined` is not a member that is missing. */
export const Schema_equivalence = (schema: any) => {
  const encode = Schema.encodeUnknownSync(schema)
  return (a: unknown, b: unknown): boolean => JSON.stringify(encode(a)) === JSON.stringify(encode(b))
}

export const Schema_MapFromSelf = ({ key, value }: any): any => Schema.ReadonlyMap(key, value)
export const Schema_Object = Schema.ObjectKeyword
