import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { setup } from './support/setup.ts'

const send = defineJob({ type: 'mail.send', queue: defineQueues({ mail: {} }).mail, payload: z.object({}) })

test('doctor says what is well and what is not, what to do about it, and ends with a code for it', async () => {
  await using t = await setup({ jobs: [send] })
  const idle = await t.run('doctor')
  expect(idle.code).toBe(3)
  expect(idle.out).toMatch(
    /^Work goes on, but something needs attention: check workers\.\n\nDATABASE\n {2}ok +PostgreSQL /,
  )
  expect(idle.out).toMatch(/^ {2}degraded {2}No worker runs\. \(workers\)\n {12}To do: Start one: /m)
  expect(idle.out).toMatch(/^QUEUES\n.*\n[\s\S]*^RUNS\n[\s\S]*^WORKERS\n[\s\S]*^SERVICES\n/m)
  await t.millrace.enqueue(send, {})
  const waiting = await t.run('doctor', '--json')
  expect(waiting.code).toBe(1)
  expect(JSON.parse(waiting.out)).toMatchObject({
    verdict: 'failing',
    reasons: [{ check: 'workers', verdict: 'failing', says: 'No worker runs, and 1 job could run now.' }],
    figures: { due: 1, dead: 0 },
  })
})

test('doctor of a database that cannot be reached says so', async () => {
  const { code, out } = await saidBy(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  expect(code).toBe(1)
  expect(out).toMatch(
    /^Something is failing: check database\.\n\nDATABASE\n {2}failing {3}The database could not be read: /,
  )
})
