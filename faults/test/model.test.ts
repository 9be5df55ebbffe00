import { expect, test } from 'vitest'
import { hasSerialOrder, type Observed } from '#src/interleaving/model'

const saw = (kind: string, didWin: boolean, run?: string): Observed =>
  ({ operation: { kind, ...(run === undefined ? {} : { run }) }, didWin }) as Observed
const completed = { status: 'completed', run: 'first', attempt: 1, crashes: 0, isCancelRequested: null } as const

test('a completion that won explains a completed job', () => {
  expect(hasSerialOrder([[saw('finish', true, 'first')], [saw('fail', false, 'first')]], completed)).toBe(true)
})

test('two winners have no serial order', () => {
  expect(hasSerialOrder([[saw('finish', true, 'first')], [saw('deadline', true)]], completed)).toBe(false)
})

test('a completion that lost has to be explained by somebody who won before', () => {
  expect(
    hasSerialOrder([[saw('finish', false, 'first')]], { ...completed, status: 'processing', isCancelRequested: false }),
  ).toBe(false)
  const rescued = { status: 'pending', run: null, attempt: 0, crashes: 1, isCancelRequested: false } as const
  expect(hasSerialOrder([[saw('finish', false, 'first')], [saw('expire', true), saw('rescue', true)]], rescued)).toBe(
    true,
  )
  expect(hasSerialOrder([[saw('finish', false, 'first')], [saw('rescue', true)]], rescued)).toBe(false)
})

test('whoever skips locked rows may find nothing', () => {
  expect(hasSerialOrder([[saw('rescue', false)], [saw('finish', true, 'first')]], completed)).toBe(true)
})

test('an actor keeps its own order', () => {
  const claimedFirst = [saw('claim', true), saw('finish', true, 'second')]
  const state = { ...completed, run: 'second', attempt: 2 } as const
  expect(hasSerialOrder([[saw('fail', true, 'first')], claimedFirst], state)).toBe(true)
  expect(hasSerialOrder([[saw('fail', true, 'first')], claimedFirst.toReversed()], state)).toBe(false)
})
