import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('admin measures pages, counts, what the dashboard reads and a payload search', async () => {
  const { measurements } = await reportOf(['admin', '--rounds', '1', '--jobs', '1', '--scale', '0.0002'])
  expect(names(measurements)).toEqual(
    expect.arrayContaining([
      ...['page of all jobs', 'page of status:dead', 'count of type:type_7', 'page 20 of all jobs'],
      ...['overview: vitals', 'tenants: shares of a queue'],
    ]),
  )
  expect(measurements[0]).toMatchObject({ unit: 'ms', median: expect.any(Number), target: { atMost: 150 } })
})
