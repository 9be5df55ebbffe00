import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { Program } from './support/program.ts'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({ n: z.number() }) })

const setup = () => base({ jobs: [send] })

test('--csv prints all rows of a list beyond its page, and says on stderr where it was cut', async () => {
  await using t = await setup()
  const many = Array.from({ length: 1_200 }, (_, n) => ({ n }))
  await t.millrace.enqueueMany(send, many, { createdBy: '=cmd|"/C calc"!A0' })
  const all = await saidBy(['jobs', '--queue', 'mail', '--csv'], t.env)
  const lines = all.out.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^id,status,type,queue,.*,payload$/)
  expect(lines).toHaveLength(1_201)
  expect(lines[1]).toMatch(/^1200,pending,send,mail,.*,"'=cmd\|""\/C calc""!A0","\{""n"":1199\}"$/)
  expect(all).toMatchObject({ code: 0, err: '' })
  const cut = await saidBy(['jobs', '--csv', '--limit', '3'], t.env)
  expect(cut.out.trimEnd().split('\n')).toHaveLength(4)
  expect(cut.err).toMatch(/^There may be more: millrace jobs --limit 3 --csv --after \w+\n$/)
  const rest = await saidBy(['jobs', '--csv', '--limit', '3', '--after', cut.err.trim().split(' ').at(-1) ?? ''], t.env)
  expect(rest.out).toMatch(/\n1197,pending/)
})

test('dead letters and the audit log can be exported, too', async () => {
  await using t = await setup()
  await t.millrace.pauses.pause({ queue: 'mail' }, { by: '@ann', reason: 'test' })
  expect((await saidBy(['dead', '--csv'], t.env)).out).toMatch(/^id,jobId,type,queue,[^\n]*\n$/)
  expect((await saidBy(['audit', '--csv'], t.env)).out).toMatch(/\n1,[\d:TZ.-]+,'@ann,pause\.set,/)
})

test.each([
  [['jobs', '--csv', '--json'], /--csv' cannot be used with option '--json'/],
  [['audit', '--csv', '--watch'], /--csv' cannot be used with option '--watch'/],
  [['dead', '--limit', '1001'], /1000 rows are the most that a list shows\. --csv prints more/],
  [['jobs', '--limit', '100001', '--csv'], /Expected a number from 1 to 100000/],
])('%j is refused', async (args, message) => {
  const said = await saidBy(args, { DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  expect(said).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('an export ends in silence when its reader leaves', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(
    send,
    Array.from({ length: 3_000 }, (_, n) => ({ n })),
  )
  await using exporting = new Program(['jobs', '--csv'], t.env)
  await exporting.said(/id,status/)
  exporting.closeOutput()
  expect(await exporting.ended()).toMatchObject({ code: 0, err: '' })
})
