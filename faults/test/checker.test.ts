import { expect, test } from 'vitest'
import { type FinalState, judge } from '#src/harness/checker'
import type { Fact, NewFact } from '#src/harness/history'

let at = 0
const told = (fact: NewFact): Fact => ({ at: at++, who: 'worker', ...fact })
const run = (what: 'started' | 'ended', n: string, id = 'r1') => told({ what, n, id: n, run: id })
const acknowledged = (n: string) => told({ what: 'acknowledged', n, id: n })

function ended(archived: Record<string, string>, effects: Record<string, number> = {}, live = 0): FinalState {
  return { archived: new Map(Object.entries(archived)), transactionalEffects: new Map(Object.entries(effects)), live }
}

test('an acknowledged task that never completed is lost', () => {
  const verdict = judge([acknowledged('a'), acknowledged('b'), run('started', 'b')], ended({ b: 'dead' }))
  expect(verdict.lost).toEqual(['a', 'b'])
})

test('an enqueue that nobody was sure of may be missing, and may have run', () => {
  const facts = [
    told({ what: 'unknown', n: 'a' }),
    told({ what: 'unknown', n: 'b' }),
    run('started', 'b'),
    run('ended', 'b'),
  ]
  expect(judge(facts, ended({ b: 'completed' }))).toMatchObject({ lost: [], ghosts: [], unknown: 2 })
})

test('a task that ran without having been enqueued is a ghost, also when it was refused', () => {
  const facts = [told({ what: 'refused', n: 'a' }), run('started', 'a'), run('started', 'b')]
  expect(judge(facts, ended({ a: 'completed' })).ghosts).toEqual(['a', 'b'])
})

test('a transactional effect must be there exactly once', () => {
  const verdict = judge([], ended({}, { none: 0, once: 1, twice: 2 }))
  expect(verdict.wrongEffects).toEqual(['none', 'twice'])
})

test('a second start is a duplicate, and completion after a run without an end is a recovery', () => {
  const facts = [acknowledged('a'), run('started', 'a', 'r1'), run('started', 'a', 'r2'), run('ended', 'a', 'r2')]
  expect(judge(facts, ended({ a: 'completed' }))).toMatchObject({
    lost: [],
    duplicated: ['a'],
    recovered: ['a'],
    runs: 2,
  })
})
