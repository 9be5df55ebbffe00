import { expect, test } from 'vitest'
import { fixture, Program } from './support/program.ts'
import { setup } from './support/setup.ts'

test("a workload's own alert fires where `millrace work` runs it", async () => {
  await using t = await setup()
  await using _ = new Program(['work', fixture('alarmed.js')], t.env)
  await expect
    .poll(async () => (await t.millrace.alerts.list()).map(({ name, subject }) => `${name} ${subject}`), {
      timeout: 20_000,
    })
    .toEqual(['overdue_invoices invoices'])
  expect((await t.run('alerts')).out).toContain('120 invoices are overdue.')
})
