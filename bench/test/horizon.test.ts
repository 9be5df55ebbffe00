import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('horizon follows a steady flow with and without an open transaction', async () => {
  const args = ['horizon', '--rounds', '1', '--jobs', '500', '--seconds', '2']
  const { measurements, ratios, details } = await reportOf(args)
  expect(names(measurements)).toEqual([
    'no open transaction, at first',
    'no open transaction, at the end',
    'transaction open, at first',
    'transaction open, at the end',
  ])
  expect(ratios[0]).toMatchObject({ name: 'open for 2 s / never open, at first', target: { atLeast: 0.8 } })
  const second = { untilSecond: expect.any(Number), jobsPerSecond: expect.any(Number), deadRows: expect.any(Number) }
  expect(details?.courses).toEqual({
    'no open transaction': [[second, second]],
    'transaction open': [[second, second]],
  })
}, 120_000)
