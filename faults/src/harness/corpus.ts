// What people put into payloads, on purpose or not. Each item either arrives exactly or is refused with this code.
//
// Made where they are needed: most of them would not survive the way between two processes.

interface Item {
  make(): unknown
  /** What JSON makes of it, where that is something else. */
  arrives?: unknown
  refused?: 'invalid_payload' | 'secret_in_payload'
}

/** Characters of JSON from which on an item is not returned as a result. */
export const LARGE_RESULT = 60_000

/** In every secret of the corpus, so that one search finds whether any was given away. */
export const SECRET = 'hunter2correcthorsebatterystaple99'

const exact = (value: unknown): Item => ({ make: () => value })
const as = (make: () => unknown, arrives: unknown): Item => ({ make, arrives })
const invalid = (make: () => unknown): Item => ({ make, refused: 'invalid_payload' })
const secret = (value: unknown): Item => ({ make: () => value, refused: 'secret_in_payload' })

function cycle(): unknown {
  const value: Record<string, unknown> = {}
  value.self = [value]
  return value
}

function nested(levels: number): unknown {
  let value: unknown = null
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

function sparse(): unknown {
  const list = [1, 2, 3]
  delete list[1]
  return list
}

class Point {
  readonly x = 1
}

const items = {
  text: exact('plain'),
  'escapes and quotes': exact('\\u0000 "quoted" {a,"b"} \\ \n\t\u0001 NULL $1'),
  'text of every kind': exact('naïve 日本語 😀 \u200f ﷽ e\u0301'),
  'keys of every kind': exact({ '': 1, 'a.b': 2, 'ключ "x"': 3, constructor: { prototype: 4 }, toString: 5 }),
  nulls: exact({ a: null, list: [null, { b: null }] }),
  'nothing much': exact([{}, [], '', 0, false]),
  'integers at 2^31 and 2^53': exact([2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2]),
  'ids as text': exact(['2147483648', '9007199254740993', '18446744073709551616']),
  'huge exponents': exact([1.7976931348623157e308, 5e-324, 1e21, -1e-7, 0.1 + 0.2]),
  'a large text': exact('€'.repeat(80_000)),
  'many elements': exact(Array.from({ length: 20_000 }, (_, i) => i)),
  'the deepest': exact(nested(62)),
  'negative zero': as(() => [-0], [0]),
  'a date': as(() => new Date(0), '1970-01-01T00:00:00.000Z'),
  'a URL': as(() => new URL('https://example.com/a?b'), 'https://example.com/a?b'),
  'a field that is undefined': as(() => ({ a: undefined, b: 1 }), { b: 1 }),
  'an object without prototype': as(() => Object.assign(Object.create(null), { a: 1 }), { a: 1 }),
  NUL: invalid(() => 'a\u0000b'),
  'NUL in a key': invalid(() => ({ 'a\u0000b': 1 })),
  'a lone surrogate': invalid(() => ['\ud83d']),
  'a surrogate the wrong way round': invalid(() => '\ude00\ud83d'),
  NaN: invalid(() => ({ price: Number.NaN })),
  infinity: invalid(() => [Number.POSITIVE_INFINITY]),
  'a bigint': invalid(() => 2n ** 64n),
  'a function': invalid(() => ({ run: () => 1 })),
  'a symbol': invalid(() => [Symbol('s')]),
  'a Map': invalid(() => new Map([['a', 1]])),
  'a Set': invalid(() => ({ tags: new Set(['a']) })),
  'an instance': invalid(() => new Point()),
  'an error': invalid(() => new Error('no')),
  bytes: invalid(() => new Uint8Array([1, 2])),
  'an invalid date': invalid(() => new Date('never')),
  'undefined in a list': invalid(() => [1, undefined]),
  'a hole in a list': invalid(sparse),
  'a cycle': invalid(cycle),
  'too deep': invalid(() => nested(70)),
  'deep enough to break a stack': invalid(() => nested(50_000)),
  'too large': invalid(() => 'x'.repeat(300_000)),
  'the key __proto__': invalid(() => JSON.parse('{"__proto__":{"polluted":true}}')),
  'a getter that throws': invalid(() => ({
    get a() {
      throw new Error('no')
    },
  })),
  'a password': secret({ user: 'ann', password: SECRET }),
  'an access token': secret({ auth: [{ access_token: SECRET }] }),
  'a GitHub token': secret({ note: `use ghp_${SECRET}abcdef` }),
  'a URL with a password': secret([`postgres://app:${SECRET}@db.example.com/app`]),
  'a key that is a secret': secret({ [`npm_${SECRET}abcdef`]: true }),
  'a private key': secret({ pem: `-----BEGIN ${'PRIVATE'} KEY-----\n${SECRET}\n` }),
} satisfies Record<string, Item>

const corpus: Record<string, Item> = items

export const goodItems = Object.keys(corpus).filter((name) => corpus[name]?.refused === undefined)
export const badItems = Object.keys(corpus).filter((name) => corpus[name]?.refused !== undefined)

export function itemOf(name: string): Item {
  const item = corpus[name]
  if (item === undefined) throw new Error(`The corpus has no "${name}".`)
  return item
}
