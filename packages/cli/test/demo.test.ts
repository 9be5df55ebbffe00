import { createMillrace, defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { ran } from './support/program.ts'

const queues = defineQueues({ mail: {} })
const greet = defineJob({ type: 'greet', queue: queues.mail, payload: z.object({}) })

test('demo refuses a database that holds jobs of another program', async () => {
  await using database = await freshDatabase()
  await using millrace = createMillrace({ database: database.url, jobs: [greet] })
  await millrace.enqueue(greet, {})
  for (const options of [['--fill-only'], ['--port', '0']]) {
    const { code, err } = await ran(['demo', ...options], { DATABASE_URL: database.url })
    expect(code).toBe(1)
    expect(err).toMatch(
      /^error: The database holds a job already, and demo data would mix with it.*nothing was written/m,
    )
  }
  expect(await millrace.tenants.list()).toEqual([])
})

test.each(['99', 'many', '1.5'])('demo refuses --jobs %s', async (jobs) => {
  expect(await ran(['demo', '--jobs', jobs])).toMatchObject({ code: 1, err: expect.stringMatching(/--jobs.*Expected/) })
})
