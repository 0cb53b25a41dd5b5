// Before each test file.
import { cost } from '../src/http/organization/passwords.ts'

// Hashing is slow on purpose: 0.15 s for each of the hundreds of sign-ins and accounts in tests.
cost.exponent = 4
