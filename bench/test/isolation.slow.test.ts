import { expect, test } from 'vitest'
import { reportOf } from './run-bench.ts'

test('isolation measures runs and the start of a process', async () => {
  const { measurements, ratios } = await reportOf(['isolation', '--rounds', '2', '--jobs', '50'])
  expect(measurements).toMatchObject([
    { name: 'inline, 1 at a time', unit: 'jobs/s' },
    { name: 'isolated, 1 at a time', unit: 'jobs/s' },
    { name: 'inline, 10 at a time', unit: 'jobs/s' },
    { name: 'isolated, 10 at a time', unit: 'jobs/s' },
    { name: 'start of a process', unit: 'ms' },
  ])
  for (const { values } of [...measurements, ...ratios]) expect(values).toHaveLength(2)
}, 120_000)
