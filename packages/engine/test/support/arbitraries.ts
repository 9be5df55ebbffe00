import fc from 'fast-check'

/** Text that means something to an array literal, or to nobody. All of it can be stored. */
export const awkwardText = fc.oneof(
  fc.constantFrom('', 'NULL', 'null', '{}', '{"a",b}', '"', '\\', '\\"', ',', ' padded ', 'line\nline', "it's", '$1'),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

/** JSON that is stored as it is: one key is refused wherever it stands. */
export const storableJson = (maxDepth: number): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth }).filter((value) => !JSON.stringify(value).includes('__proto__'))

/** Negative zero is the one value that JSON does not bring back. */
export const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
