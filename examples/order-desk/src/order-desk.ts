import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Workload } from '@millrace/cli/workload'
import { confirmOrder, printLabel, reportDay, screenOrder, sendReceipt } from './contracts.ts'
import { type Desk, handlersAt } from './handlers.ts'
import { makeFolders, pageHandlersAt } from './page-handlers.ts'
import { capturePage, compressPage, keepPage, removeFile, uploadPage } from './pages.ts'
import { Receiver, type Trouble } from './receiver.ts'
import { registerShops } from './shops.ts'
import { createTables } from './tables.ts'
import { type Pace, Traffic } from './traffic.ts'

export type OrderDeskOptions = Partial<Pace & Trouble & Pages>

interface Pages {
  /** Outlives the process: a workflow that was cut off goes on with its files. Default: one of this user below the system's. */
  readonly folder: string
  /** Every nth upload fails for good. */
  readonly fullEvery: number
}

export interface OrderDesk extends Workload {
  /** While it is started. */
  readonly receiver: Receiver
}

/** Orders of two shops come in, are entered into a ledger exactly once, get a label and a receipt, and some pages are kept. */
export function orderDesk(options: OrderDeskOptions = {}): OrderDesk {
  const pace: Pace = {
    ordersPerSecond: options.ordersPerSecond ?? 4,
    maxOrders: options.maxOrders ?? Number.POSITIVE_INFINITY,
    reportEveryOrders: options.reportEveryOrders ?? 40,
    keepEveryOrders: options.keepEveryOrders ?? 20,
  }
  const trouble: Trouble = {
    busyEvery: options.busyEvery ?? 11,
    brokenEvery: options.brokenEvery ?? 17,
    downEvery: options.downEvery ?? 150,
    jamEvery: options.jamEvery ?? 60,
    labelMs: options.labelMs ?? 250,
  }
  const folder = options.folder ?? join(tmpdir(), `millrace-order-desk-${process.getuid?.() ?? 'pages'}`)
  const atDesk = () => started(desk)
  let desk: Desk | undefined
  let receiver: Receiver | undefined
  return {
    name: 'order desk',
    jobs: [
      confirmOrder,
      screenOrder,
      printLabel,
      sendReceipt,
      reportDay,
      capturePage,
      compressPage,
      uploadPage,
      removeFile,
    ],
    workflows: [keepPage],
    handlers: [...handlersAt(atDesk), ...pageHandlersAt(atDesk, options.fullEvery ?? 4)],
    get receiver() {
      return started(receiver)
    },
    setup: ({ databaseUrl }) => createTables(databaseUrl),
    async start({ millrace, logger, databaseUrl, mode }) {
      // Where no jobs run, nobody places orders either.
      if (mode === 'admin') return { stop: async () => {} }
      const receipts = await Receiver.start(trouble)
      receiver = receipts
      await makeFolders(folder)
      desk = { millrace, service: receipts, folder }
      await registerShops(millrace)
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
