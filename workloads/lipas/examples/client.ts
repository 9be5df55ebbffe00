// How a program that enqueues jobs of LIPAS is connected: the contracts, and no handler.
import { createMillrace, type Millrace } from 'millrace'
import { contracts } from '#src/contracts'

export const openClient = (): Millrace =>
  createMillrace({ database: process.env.DATABASE_URL ?? 'postgres://localhost/lipas', jobs: [...contracts] })
