// Every method. No handler code: a program that only enqueues loads this.
import type { JobContract } from 'millrace'
import { processBatch, splitImport } from './contracts/bulk.ts'
import { sendFax, sendNotification } from './contracts/critical.ts'
import { dispatchWebhook, sendEmail, updateDocuments } from './contracts/default.ts'
import { cleanUpDeadLetters, detectStuckJobs, ignoreSignal } from './contracts/monitoring.ts'

export const contracts: readonly JobContract[] = [
  sendFax,
  sendNotification,
  dispatchWebhook,
  sendEmail,
  updateDocuments,
  splitImport,
  processBatch,
  detectStuckJobs,
  cleanUpDeadLetters,
  ignoreSignal,
]
