import { expect, test } from 'vitest'
import { OldestRun } from '#src/worker/oldest-run'

const started = (...times: number[]) => times.map((startedAtS) => ({ startedAtS }))

test('a heartbeat looks at everything until it has seen a run', () => {
  const oldest = new OldestRun()
  expect(oldest.sinceS()).toBeNull()
  oldest.saw([])
  expect(oldest.sinceS()).toBeNull()
})

test('it then begins at the oldest run that it saw, or a minute before the newest', () => {
  const oldest = new OldestRun()
  oldest.sinceS()
  oldest.saw(started(1_000, 5_000))
  expect(oldest.sinceS()).toBe(1_000)
  oldest.saw(started(4_990, 5_000))
  expect(oldest.sinceS()).toBe(4_940)
  oldest.saw([])
  expect(oldest.sinceS()).toBe(4_940)
})

test('every sixtieth look is at everything all the same', () => {
  const oldest = new OldestRun()
  oldest.sinceS()
  oldest.saw(started(1_000))
  const looks = Array.from({ length: 60 }, () => oldest.sinceS())
  expect(looks.indexOf(null)).toBe(59)
})
