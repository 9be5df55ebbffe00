import {
  discard,
  type Implementation,
  implement,
  type JobContext,
  type Millrace,
  RetryAfter,
  Unrecoverable,
} from 'millrace'
import { confirmOrder, printLabel, receiptService, reportDay, screenOrder, sendReceipt } from './contracts.ts'

/** Orders above this are screened for fraud. */
const LARGE_ORDER_CENTS = 15_000

/** What the handlers need and only a started workload has. */
export interface Desk {
  readonly millrace: Millrace
  readonly service: ServiceAddresses
  /** Where pages are worked on, and kept. */
  readonly folder: string
}

/** Of the shop's own service. */
export interface ServiceAddresses {
  readonly receiptsUrl: string
  readonly pagesUrl: string
  readonly labelsUrl: string
  readonly screeningUrl: string
}

export function handlersAt(desk: () => Desk): Implementation[] {
  return [
    implement(confirmOrder, (order, ctx) =>
      // The ledger row, the next jobs and the completion of this job commit together, or not at all.
      ctx.transaction(async (tx) => {
        await tx.query('insert into order_desk.ledger (order_id, shop, amount_cents) values ($1, $2, $3)', [
          order.orderId,
          ctx.tenant,
          order.amountCents,
        ])
        const options = { tx, tenant: ctx.tenant ?? '' }
        await desk().millrace.enqueue(sendReceipt, order, options)
        await desk().millrace.enqueue(printLabel, { orderId: order.orderId }, options)
        if (order.amountCents > LARGE_ORDER_CENTS) await desk().millrace.enqueue(screenOrder, order, options)
      }),
    ),

    implement(screenOrder, async (order, ctx) => {
      // Held until it is spent, so that runs side by side cannot exceed the budget together.
      const cent = await ctx.budget.reserve(1)
      const { answer, response } = await post(desk().service.screeningUrl, order, ctx)
      if (!response.ok) throw new Error(`The screening answered ${response.status}: ${answer}`)
      await cent.spend(1)
      return JSON.parse(answer) as { isSuspicious: boolean }
    }),

    implement(printLabel, async (order, ctx) => {
      const { answer, response } = await post(`${desk().service.labelsUrl}/${ctx.tenant}`, order, ctx)
      if (response.ok) return
      // A retry would print on the same jammed sheet: a dead letter waits until a person has cleared it.
      throw new Unrecoverable(`The printer of ${ctx.tenant} is jammed: ${answer}. Clear it, then redrive the job.`)
    }),

    implement(sendReceipt, async (order, ctx) => {
      const { answer, response } = await ctx.breaker(receiptService, async () => {
        const sent = await post(desk().service.receiptsUrl, order, ctx)
        if (sent.response.status === 500) throw new Error(`The receiver answered 500: ${sent.answer}`)
        return sent
      })
      if (response.ok) return { status: response.status }
      if (response.status === 400) return discard(`the receiver refuses the receipt: ${answer}`)
      const seconds = Number(response.headers.get('retry-after'))
      if (seconds > 0) throw new RetryAfter(seconds * 1_000, `the receiver is ${answer}`)
      throw new Error(`The receiver answered ${response.status}: ${answer}`)
    }),

    implement(reportDay, ({ day }, ctx) =>
      ctx.transaction(async (tx) => {
        const { rows } = await tx.query(
          `select count(*)::int as orders, coalesce(sum(amount_cents), 0)::int as total_cents
           from order_desk.ledger
           where entered_at >= $1::date and entered_at < $1::date + 1`,
          [day],
        )
        const [sum] = rows as [{ orders: number; total_cents: number }]
        ctx.log.info({ day, orders: sum.orders, total: sum.total_cents / 100 }, 'the day so far')
        return { day, orders: sum.orders, totalCents: sum.total_cents }
      }),
    ),
  ]
}

/** The job's id is the idempotency key: the service counts a repeated request once. */
async function post(url: string, body: object, { jobId, signal }: Pick<JobContext, 'jobId' | 'signal'>) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': jobId }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
  return { response, answer: await response.text() }
}
