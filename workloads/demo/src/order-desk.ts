import type { Workload } from '@millrace/cli/workload'
import { confirmOrder, reportDay, sendReceipt } from './contracts.ts'
import { type Desk, handlersAt } from './handlers.ts'
import { Receiver, type Trouble } from './receiver.ts'
import { createTables } from './tables.ts'
import { type Pace, Traffic } from './traffic.ts'

export type OrderDeskOptions = Partial<Pace & Trouble>

export interface OrderDesk extends Workload {
  /** While it is started. */
  readonly receiver: Receiver
}

/** Orders come in, are entered into a ledger exactly once, and each gets a receipt over HTTP. */
export function orderDesk(options: OrderDeskOptions = {}): OrderDesk {
  const pace: Pace = {
    ordersPerSecond: options.ordersPerSecond ?? 4,
    maxOrders: options.maxOrders ?? Number.POSITIVE_INFINITY,
    reportEveryOrders: options.reportEveryOrders ?? 40,
  }
  const trouble: Trouble = { busyEvery: options.busyEvery ?? 11, brokenEvery: options.brokenEvery ?? 17 }
  let desk: Desk | undefined
  let receiver: Receiver | undefined
  return {
    name: 'order desk',
    jobs: [confirmOrder, sendReceipt, reportDay],
    handlers: handlersAt(() => started(desk)),
    get receiver() {
      return started(receiver)
    },
    setup: ({ databaseUrl }) => createTables(databaseUrl),
    async start({ millrace, logger, databaseUrl }) {
      const receipts = await Receiver.start(trouble)
      receiver = receipts
      desk = { millrace, receiptsUrl: receipts.url }
      const traffic = new Traffic(pace, { millrace, databaseUrl, logger })
      return {
        async stop() {
          await traffic.stop()
          await receipts.stop()
        },
      }
    },
  }
}

function started<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('The order desk is not started: call start() before its handlers run.')
  return thing
}
