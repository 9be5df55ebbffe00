import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('horizon follows a steady flow with and without an open transaction', async () => {
  const args = ['horizon', '--rounds', '1', '--jobs', '500', '--seconds', '2']
  const { measurements, ratios, details } = await reportOf(args)
  const flows = [
    'no open transaction',
    'transaction open',
    'no open transaction, 20 tenants',
    'transaction open, 20 tenants',
  ]
  expect(names(measurements)).toEqual(flows.flatMap((flow) => [`${flow}, at first`, `${flow}, at the end`]))
  expect(ratios[0]).toMatchObject({ name: 'open for 2 s / never open, at first', target: { atLeast: 0.8 } })
  const second = { untilSecond: expect.any(Number), jobsPerSecond: expect.any(Number), deadRows: expect.any(Number) }
  expect(details?.courses).toEqual(Object.fromEntries(flows.map((flow) => [flow, [[second, second]]])))
}, 120_000)
