import { testScenarios } from './scenario-suite.ts'

testScenarios('f05', 'f05b', 'f06', 'f07')
