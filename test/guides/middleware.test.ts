import { type JobContract, type Middleware, type Millrace, snooze, type Worker } from 'millrace'
import { expect, test } from 'vitest'
import { jobEvent, setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Services {
  sendMail(to: string): Promise<unknown>
}
interface Guide {
  reporting(report: (error: unknown, tags: object) => void): Middleware
  tracing(trace: (name: string, work: () => Promise<unknown>) => Promise<unknown>): Middleware
  providing(make: (tenant: string | null) => Services): Middleware
}
interface Program {
  sendMail: JobContract
  work(millrace: Millrace, middleware: readonly Middleware[]): Promise<Worker>
}

test('the middleware of the guide traces runs, reports errors and hands services to handlers', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/middleware.md')
  const { reporting, tracing, providing } = await guide.load<Guide>('middleware.ts')
  const { sendMail, work } = await guide.load<Program>('worker.ts')
  const told: unknown[] = []
  const sender = (tenant: string | null) => ({
    async sendMail(to: string) {
      if (to === 'bob') throw new Error('no such box')
      if (to === 'cid') return snooze('1h')
      return `${tenant} to ${to}`
    },
  })
  const millrace = t.client([sendMail])
  await work(millrace, [
    tracing(async (name, run) => {
      told.push(`begin ${name}`)
      return run().finally(() => told.push(`end ${name}`))
    }),
    reporting((error, tags) => told.push([(error as Error).message, tags])),
    providing(sender),
  ])
  const send = (to: string) => millrace.enqueue(sendMail, { to } as never, { tenant: 'acme' })
  const ann = await send('ann')
  expect(await millrace.result(ann.id)).toMatchObject({ status: 'completed', result: 'acme to ann' })
  expect(told.splice(0)).toEqual(['begin run mail.send', 'end run mail.send'])
  const bob = await send('bob')
  await jobEvent(millrace, 'job_retry_scheduled', bob.id)
  const report = ['no such box', { type: 'mail.send', job: bob.id, attempt: 1 }]
  expect(told).toEqual(['begin run mail.send', report, 'end run mail.send'])
  await jobEvent(millrace, 'job_snoozed', (await send('cid')).id)
})
