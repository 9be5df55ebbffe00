import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureFrom, failureOf } from '#src/failure'
import { fingerprintOf } from '#src/fingerprint'

const sentence = (value: unknown) => `Could not charge ${value} for the customer, the bank said no`
const print = (message: string, stack: string | null = null) => fingerprintOf({ class: 'Error', message, stack })
const stackOf = (...frames: string[]) => ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n')

describe('the message', () => {
  const dates = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  const word = fc.stringMatching(/^[a-z]{1,12}$/)
  const values: Record<string, fc.Arbitrary<string>> = {
    'a whole number': fc.bigInt().map(String),
    'a decimal': fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    'a uuid': fc.uuid(),
    'a hexadecimal id': fc.stringMatching(/^(0x)?[0-9a-f]{8,40}$/),
    'an id with a prefix': fc.tuple(word, fc.nat()).map(([prefix, n]) => `${prefix}_${n}`),
    'a quoted value': fc.stringMatching(/^[^"\n]{0,80}$/).map((text) => `"${text}"`),
    'a value in single quotes': fc.stringMatching(/^[a-zA-Z0-9 @:/.]{0,80}$/).map((text) => `'${text}'`),
    'an email address': fc.tuple(word, word).map(([name, host]) => `${name}.${name}@${host}.example.org`),
    'a URL': fc.webUrl({ withQueryParameters: true, withFragments: true }),
    'a date in ISO format': dates.map((date) => date.toISOString()),
    'a date as JavaScript prints it': dates.map(String),
    'a date as HTTP has it': dates.map((date) => date.toUTCString()),
    'an address with a port': fc.tuple(fc.ipV4(), fc.nat(65_535)).map(([ip, port]) => `${ip}:${port}`),
  }

  test.each(Object.entries(values))('may name %s: which one does not matter', (_, value) => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(print(sentence(one))).toBe(print(sentence(other)))
      }),
    )
  })

  test('may list as many ids as it likes', () => {
    expect(print('orders 1, 2, 3 are missing')).toBe(print('orders 77, 8 are missing'))
  })

  test('may name a directory of the machine', () => {
    expect(print('Cannot read /home/ann/app/config.json now')).toBe(print('Cannot read /srv/config.json now'))
    expect(print('Cannot read /srv/config.json now')).not.toBe(print('Cannot read /srv/secrets.json now'))
  })

  test('has another fingerprint when its words are others', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[g-z]{3,10}$/), fc.stringMatching(/^[g-z]{3,10}$/), (one, other) => {
        fc.pre(one !== other)
        expect(print(sentence(one))).not.toBe(print(sentence(other)))
      }),
    )
  })

  test('keeps its words between apostrophes', () => {
    expect(print("can't find the user's file")).not.toBe(print("can't open the user's file"))
    expect(print("no user 'O'Brien' here")).toBe(print("no user 'Ann' here"))
  })
})

describe('the class', () => {
  test('makes a difference', () => {
    const named = (name: string) => fingerprintOf({ class: name, message: 'x', stack: null })
    expect(named('TypeError')).not.toBe(named('RangeError'))
  })
})

describe('the stack', () => {
  test('makes a difference by function and by file', () => {
    const name = fc.stringMatching(/^[a-z]{1,10}$/)
    const frame = ([fn, file]: [string, string]) => stackOf(`${fn} (/app/dist/${file}.js:1:1)`)
    fc.assert(
      fc.property(fc.tuple(name, name), fc.tuple(name, name), (one, other) => {
        fc.pre(one.join() !== other.join())
        expect(print('x', frame(one))).not.toBe(print('x', frame(other)))
      }),
    )
  })

  test('does not by directory, line, column, extension or platform', () => {
    const places = [
      '/home/ann/shop/src/mail.ts:10:3',
      '/srv/app/dist/mail.js:200:15',
      'file:///srv/app/dist/mail.mjs:1:1',
      'file:///srv/app/dist/mail.js?t=1700000000000:1:1',
      'C:\\shop\\dist\\mail.js:9:9',
      '/srv/(group)/mail.js:9:9',
    ]
    const prints = places.map((place) => print('x', stackOf(`async send (${place})`)))
    expect(new Set(prints).size).toBe(1)
    expect(new Set(places.map((place) => print('x', stackOf(place)))).size).toBe(1)
  })

  test('does not by what Node does between our frames', () => {
    const ours = 'send (/app/mail.js:1:1)'
    const theirs = [
      'node:internal/process/task_queues:95:5',
      'process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      'new Promise (<anonymous>)',
      'async Promise.all (index 0)',
    ]
    expect(print('x', stackOf(...theirs, ours))).toBe(print('x', stackOf(ours)))
  })

  test('does not by how often a function called itself', () => {
    const frame = 'walk (/app/tree.js:1:1)'
    expect(print('x', stackOf(frame, frame, frame, 'run (/app/a.js:1:1)'))).toBe(
      print('x', stackOf(frame, 'run (/app/a.js:1:1)')),
    )
  })

  test('does not by frames that only the message quotes', () => {
    const message = 'remote said:\n    at far (/else/where.js:1:1)'
    const thrownIn = (fn: string) => print(message, `Error: ${message}\n    at ${fn} (/app/mail.js:1:1)`)
    expect(thrownIn('send')).not.toBe(thrownIn('fetch'))
  })
})

describe('a failure', () => {
  const thrownBy = (message: string) => {
    try {
      throw new RangeError(message)
    } catch (error) {
      return failureFrom(error)
    }
  }
  const thrownElsewhere = (message: string) => {
    try {
      throw new RangeError(message)
    } catch (error) {
      return failureFrom(error)
    }
  }

  test('has the fingerprint of its kind, short enough to read out', () => {
    expect(thrownBy('order 1 failed').fingerprint).toMatch(/^[0-9a-f]{12}$/)
    expect(thrownBy('order 1 failed').fingerprint).toBe(thrownBy('order 2 failed').fingerprint)
    expect(thrownBy('order 1 failed').fingerprint).not.toBe(thrownElsewhere('order 1 failed').fingerprint)
  })

  test('that nobody threw has one too', () => {
    expect(failureOf('StuckRun', 'went on').fingerprint).toBe(failureOf('StuckRun', 'went on').fingerprint)
    expect(failureOf('StuckRun', 'went on').fingerprint).not.toBe(failureOf('CrashLoop', 'went on').fingerprint)
  })

  test('never fails to get one, whatever was thrown', () => {
    const hostile = [undefined, null, 1n, Symbol('x'), { toJSON: () => undefined }, Object.create(null), () => {}]
    for (const thrown of hostile) expect(failureFrom(thrown).fingerprint).toMatch(/^[0-9a-f]{12}$/)
    fc.assert(
      fc.property(fc.anything(), fc.string({ unit: 'binary' }), (thrown, text) => {
        expect(failureFrom(thrown).fingerprint).toMatch(/^[0-9a-f]{12}$/)
        expect(fingerprintOf({ class: text, message: text, stack: text })).toMatch(/^[0-9a-f]{12}$/)
      }),
    )
  })

  // The longest texts that are kept, made of what each pattern looks at longest. A slow pattern would need minutes.
  test.each(["'", " 'a", '"', 'a', 'a.', '/a', 'f', '1,', 'a@', 'Mon ', '\n    at a (', '<n> '])(
    'gets one quickly, also for a text full of %j',
    (piece) => {
      const text = piece.repeat(8_000 / piece.length)
      const started = performance.now()
      fingerprintOf({ class: 'Error', message: text.slice(0, 4_000), stack: text })
      expect(performance.now() - started).toBeLessThan(500)
    },
  )
})
