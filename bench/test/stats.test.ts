import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('stats measures how long a look at the queues takes, against one pass over the table', async () => {
  const { measurements, ratios } = await reportOf(['stats', '--rounds', '1', '--jobs', '2000'])
  expect(names(measurements)).toEqual(['millrace.stats()', 'millrace.queues()', 'one pass over the table'])
  expect(measurements[0]).toMatchObject({ unit: 'ms', median: expect.any(Number), target: { atMost: 1_000 } })
  expect(names(ratios)).toEqual(['stats() / one pass', 'queues() / one pass'])
})
