// Copies of a bounded size, of values of any shape.
import { describe, expect, test } from 'vitest'
import { bounded, LEFT_OUT } from '#src/contract/bounded'
import { plainRedactor } from '#src/contract/redact'
import { failureFrom } from '#src/failure'

/** Objects of which each knows all others. A reader that walks every path reads them more often than `most` allows. */
function acquainted(count: number, most = 10_000): Record<string, unknown>[] {
  let reads = 0
  const people = Array.from({ length: count }, (_, i) => {
    const person: Record<string, unknown> = { name: `person ${i}` }
    return new Proxy(person, {
      ownKeys(target) {
        reads += 1
        if (reads > most) throw new Error(`read more than ${most} times`)
        return Reflect.ownKeys(target)
      },
    })
  })
  for (const person of people) person.knows = people.filter((other) => other !== person)
  return people
}

/** No cycle, and 2^depth paths. */
function ladder(depth: number): object {
  let rung: object = { end: true }
  for (let i = 0; i < depth; i++) rung = { left: rung, right: rung }
  return rung
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length

describe('fields of a log line', () => {
  test('that refer to each other are walked once each', () => {
    const shown = plainRedactor.json({ people: acquainted(14, 100) })
    expect(sizeOf(shown)).toBeLessThan(10_000)
    expect(JSON.stringify(shown)).toContain('person 13')
  })

  test('that have more paths than objects are walked once each', () => {
    expect(sizeOf(plainRedactor.json({ ladder: ladder(60) }))).toBeLessThan(10_000)
  })

  test('are shown in part if they are too many, too long or too deep', () => {
    const list = plainRedactor.json({ list: Array.from({ length: 1_000_000 }, (_, i) => i) })
    expect(sizeOf(list)).toBeLessThan(50_000)
    expect(JSON.stringify(list)).toContain(LEFT_OUT)
    expect(sizeOf(plainRedactor.json({ text: 'word '.repeat(1_000_000) }))).toBeLessThan(110_000)
    expect(plainRedactor.text('word '.repeat(1_000_000)).length).toBeLessThan(110_000)
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key ${i}`, i]))
    expect(sizeOf(plainRedactor.json(keys))).toBeLessThan(100_000)
    let deep: object = {}
    for (let i = 0; i < 100_000; i++) deep = { deep }
    expect(sizeOf(plainRedactor.json(deep))).toBeLessThan(2_000)
  })

  test('may be binary, or objects whose toJSON returns ever new ones', () => {
    const endless = { toJSON: () => ({ next: { ...endless } }) }
    const itself = { n: 1, toJSON: () => itself }
    const shown = plainRedactor.json({
      buffer: Buffer.alloc(1e6),
      bytes: new Uint8Array(1e6),
      endless,
      itself,
      big: 1n,
    })
    expect(shown).toMatchObject({
      buffer: '[Buffer of 1000000 bytes]',
      bytes: '[Uint8Array of 1000000 bytes]',
      itself: { n: 1 },
      big: '1',
    })
    expect(sizeOf(shown)).toBeLessThan(5_000)
  })

  test('that were shown before are marked, and two that are equal are not', () => {
    const address = { city: 'Berlin' }
    expect(bounded({ a: address, b: address, c: { city: 'Berlin' }, d: new Date(0), e: [1, [2]] })).toEqual({
      a: { city: 'Berlin' },
      b: LEFT_OUT,
      c: { city: 'Berlin' },
      d: '1970-01-01T00:00:00.000Z',
      e: [1, [2]],
    })
  })
})

test('whatever is thrown is described in bounded time', () => {
  expect(failureFrom(ladder(60)).message).toContain('left')
  expect(failureFrom({ people: acquainted(14, 100) }).message).toContain('person 13')
  expect(failureFrom(Object.assign(new Error('bad'), { cause: ladder(60) })).message).toBe('bad')
})
