import { expect, test } from 'vitest'
import { frontiers, type Look } from '#src/governance/look'
import type { Seen } from '#src/store/governed-claims'

const seen = (nth: number, id: string | null, { tenant = 'a', priority = 5, runAtS = 1 } = {}): Seen => [
  nth,
  nth === 0 ? null : tenant,
  'type',
  id,
  'type',
  priority,
  runAtS,
  null,
]

const look = (...rows: Seen[]): Look => ({
  seen: rows,
  byType: false,
  isCut: false,
  offer: 9,
  isWhole: true,
  walked: { from: 'head', sentAtMs: 0, walkMs: 0 },
})

const taken = (...ids: string[]) => ids.map((id) => ({ id }))
const placesOf = (...given: Parameters<typeof frontiers>) =>
  frontiers(...given).map(({ tenant, priority, runAtS, id }) => `${tenant} ${priority} ${runAtS} ${id}`)

test('the next look at a stream begins behind the last job that was taken', () => {
  expect(placesOf(look(seen(1, '7'), seen(1, '9', { runAtS: 2 }), seen(1, '10')), taken('7', '9', '10'))).toEqual([
    'a 5 2 9',
  ])
})

test('or before the first one that was left, whatever was taken behind it', () => {
  const rows = look(seen(1, '7'), seen(1, '10'), seen(1, '9'), seen(1, '3', { runAtS: 2 }))
  expect(placesOf(rows, taken('7', '10', '3'))).toEqual(['a 5 1 8'])
  expect(placesOf(rows, [])).toEqual(['a 5 1 6'])
})

test('each tenant and each priority has its own place; those with nothing to offer have none', () => {
  const rows = look(
    seen(1, '1'),
    seen(2, '2', { priority: 6 }),
    seen(3, '3', { tenant: 'b' }),
    seen(4, null, { tenant: 'c' }),
    seen(0, '5'),
    seen(0, '6', { priority: 6 }),
  )
  expect(placesOf(rows, taken('1', '2', '3', '5', '6'))).toEqual([
    'a 5 1 1',
    'a 6 1 2',
    'b 5 1 3',
    'null 5 1 5',
    'null 6 1 6',
  ])
})

test('jobs that crashed are no part of a stream', () => {
  expect(placesOf(look(seen(-1, '1')), taken('1'))).toEqual([])
})

test('where something may have been left out, nothing is passed', () => {
  expect(frontiers({ ...look(seen(1, '1')), isWhole: false }, taken('1'))).toEqual([])
})
