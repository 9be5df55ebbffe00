// What the fax gateway answers, and what that means for a job.
import { z } from 'zod'

/** The gateway itself is in trouble: an answer of 5xx, or one that cannot be read. */
export class GatewayUnwell extends Error {
  override readonly name = 'GatewayUnwell'
}

/** The gateway asks to be called less often. */
export class GatewayBusy extends Error {
  override readonly name = 'GatewayBusy'
  readonly waitMs: number

  constructor(waitMs: number) {
    super(`The fax gateway asks to be called again in ${Math.ceil(waitMs / 1_000)} s.`)
    this.waitMs = waitMs
  }
}

/** It will not take this fax, now or later. */
export class FaxRefused extends Error {
  override readonly name = 'FaxRefused'
}

/** A fax as the gateway knows it. */
export const gatewayFax = z.object({
  id: z.string().min(1),
  to: z.string(),
  status: z.enum(['QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILURE']),
  numberOfPages: z.int().nonnegative().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  createTime: z.string().optional(),
  errorType: z.string().optional(),
  errorCode: z.union([z.int(), z.string()]).optional(),
  errorMessage: z.string().optional(),
})
export type GatewayFax = z.output<typeof gatewayFax>

export const gatewayList = z.object({ faxes: z.array(gatewayFax) })

/** Of calls: the number is not in service. Busy (17) and no answer (49) may be otherwise next time. */
const HOPELESS_CALLS = ['34']

/** Whether a fax that failed can only fail again: its document cannot be read, or its number is none. */
export function isHopeless({ errorType, errorCode }: GatewayFax): boolean {
  if (errorType === 'DOCUMENT_CONVERSION_ERROR') return true
  return errorType === 'CALL_ERROR' && HOPELESS_CALLS.includes(String(errorCode))
}
