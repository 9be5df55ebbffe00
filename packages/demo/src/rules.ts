// The rules that hold at the end of the week: shares of shops, a pause, a limit, a suspended shop, breakers.
import type { Millrace } from 'millrace'
import { queues, textService } from './queues.ts'
import { NOISY, SHOPS, SUSPENDED } from './shops.ts'

const OPS = 'ops@fernwick.example'

export async function setRules(millrace: Millrace): Promise<void> {
  for (const { name, weight = 1, minSlots = 0, maxSlots = null } of SHOPS)
    await millrace.tenants.set(name, { weight, minSlots, maxSlots }, { by: 'millrace demo' })
  await millrace.tenants.setSlots(NOISY, queues.bulk.name, { maxSlots: 4 }, { by: OPS })
  await millrace.tenants.suspend(SUSPENDED, { by: 'billing@fernwick.example', reason: 'unpaid since October' })
  await millrace.pauses.pause(
    { queue: queues.screenshot.name },
    { by: OPS, reason: 'the browser image is being replaced', for: '6h' },
  )
  await millrace.limits.set('printer', { running: 1 }, { by: OPS })
  await millrace.breakers.configure(textService.name, { by: OPS, failures: 3, openFor: '2m' })
}
