import { expect, test } from 'vitest'
import { OldestRun } from '#src/worker/oldest-run'

const started = (...times: number[]) => times.map((startedAtS) => ({ startedAtS }))

test('a heartbeat looks at everything until it has seen a run', () => {
  const oldest = new OldestRun()
  expect(oldest.sinceS()).toBeNull()
  oldest.saw([])
  expect(oldest.sinceS()).toBeNull()
})

test('it then begins at the oldest run that it saw, or ten seconds before the newest', () => {
  const oldest = new OldestRun()
  oldest.sinceS()
  oldest.saw(started(1_000, 5_000))
  expect(oldest.sinceS()).toBe(1_000)
  oldest.saw(started(4_998, 5_000))
  expect(oldest.sinceS()).toBe(4_990)
  oldest.saw([])
  expect(oldest.sinceS()).toBe(4_990)
})

test('every sixth look begins a minute before the newest, in case a claim took long to be written', () => {
  const oldest = new OldestRun()
  oldest.sinceS()
  oldest.saw(started(5_000))
  const looks = Array.from({ length: 7 }, () => oldest.sinceS())
  expect(looks).toEqual([4_990, 4_990, 4_990, 4_990, 4_990, 4_940, 4_990])
})

test('every sixtieth look is at everything all the same', () => {
  const oldest = new OldestRun()
  oldest.sinceS()
  oldest.saw(started(1_000))
  const looks = Array.from({ length: 60 }, () => oldest.sinceS())
  expect(looks.indexOf(null)).toBe(59)
})
