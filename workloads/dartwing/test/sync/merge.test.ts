// The merge of offline changes has laws; they hold for whatever devices do.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Change, DELETED, EMPTY, isDeleted, type MergeState, merge } from '#src/sync/merge'
import { readStamp, serverStamp, stampText } from '#src/sync/stamp'

const stamp = fc
  .record({
    ms: fc.integer({ min: 1, max: 20 }),
    counter: fc.integer({ min: 0, max: 3 }),
    device: fc.constantFrom('a', 'b', 'c'),
  })
  .map(stampText)

/** A stamp is of one change: the same stamp never has two values. */
const change: fc.Arbitrary<Change> = fc
  .record({ field: fc.constantFrom('subject', 'status', DELETED), stamp })
  .map(({ field, stamp: at }) => ({ field, stamp: at, value: `${field} of ${at}`, base: null }))

const applied = (changes: readonly Change[], from: MergeState = EMPTY): MergeState =>
  changes.reduce((state, each) => merge(state, each).state, from)

test('changes in every order give one state', () => {
  const orders = fc
    .array(change, { maxLength: 12 })
    .chain((changes) => fc.tuple(fc.constant(changes), fc.shuffledSubarray(changes, { minLength: changes.length })))
  fc.assert(
    fc.property(orders, ([changes, shuffled]) => {
      expect(applied(shuffled)).toEqual(applied(changes))
    }),
  )
})

test('changes that come again change nothing', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const once = applied(changes)
      expect(applied(changes, once)).toEqual(once)
      for (const each of changes) expect(merge(once, each).isChanged).toBe(false)
    }),
  )
})

test('of two values that did not know each other, one is kept and the other is noted', () => {
  const first = { field: 'status', value: 'Open', stamp: stampText({ ms: 1, counter: 0, device: 'a' }), base: null }
  const second = { field: 'status', value: 'Done', stamp: stampText({ ms: 2, counter: 0, device: 'b' }), base: null }
  const conflict = {
    field: 'status',
    kept: { value: 'Done', stamp: second.stamp },
    lost: { value: 'Open', stamp: first.stamp },
  }
  expect(merge(applied([first]), second).conflict).toEqual(conflict)
  expect(merge(applied([second]), first).conflict).toEqual(conflict)
  expect(merge(applied([first]), { ...second, base: first.stamp }).conflict).toBeUndefined()
})

test('a row is deleted until something later is set', () => {
  const at = (ms: number) => stampText({ ms, counter: 0, device: 'a' })
  const set = { field: 'subject', value: 'x', stamp: at(1), base: null }
  const gone = { field: DELETED, value: true, stamp: at(2), base: null }
  expect(isDeleted(applied([set]))).toBe(false)
  expect(isDeleted(applied([set, gone]))).toBe(true)
  expect(isDeleted(applied([set, gone, { ...set, stamp: at(3) }]))).toBe(false)
})

test('stamps sort as text, and those of the server always grow', () => {
  const stamps = Array.from({ length: 70_000 }, () => serverStamp(1_763_553_600_000))
  expect(stamps).toEqual([...stamps].sort())
  expect(new Set(stamps).size).toBe(stamps.length)
  expect(readStamp('yesterday')).toBeUndefined()
})
