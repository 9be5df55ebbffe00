import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('workflow measures steps side by side, in growing numbers and in a chain, against plain jobs', async () => {
  const { measurements, ratios } = await reportOf(['workflow', '--rounds', '1', '--jobs', '40'])
  expect(names(measurements)).toEqual([
    '40 plain jobs',
    'fan-out of 4',
    'fan-out of 40',
    'fan-out of 120',
    '1 declared steps',
    '4 declared steps',
    'one job, own process',
    'link of a chain of 40',
    'link of a chain of 400',
  ])
  expect(ratios).toMatchObject([
    { name: 'fan-out of 40 / 40 plain jobs', target: { atMost: 2 }, isMet: expect.any(Boolean) },
    { name: 'link of a chain of 40 / one job, own process', target: { atMost: expect.any(Number) } },
    { name: 'link of a chain of 400 / link of a chain of 40', target: { atMost: 1.5 } },
    { name: 'fan-out of 120 / fan-out of 4', target: { atMost: 1.5 } },
    { name: '4 declared steps / 1 declared steps', target: { atMost: 1.5 } },
  ])
}, 120_000)
