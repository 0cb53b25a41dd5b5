// Made from server/openapi.json by `npm run generate`: every operation with what it takes and what it answers.
// Do not edit it; change the schema of the route.

export interface Operations {
  /** Is the process alive? */
  'GET /health/live': {
    answer: {
      status: string
    }
  }
  /** Is the service ready? */
  'GET /health/ready': {
    answer: {
      status: string
      checks: Record<string, {
        ok: boolean
        detail?: string | undefined
      }>
    }
  }
  /** Trigger an event */
  'POST /v1/events/trigger': {
    body: {
      /** The identifier of the workflow */
      name: string
      overrides?: Record<string, unknown> | undefined
      /** A trigger with an id that was already used is ignored */
      transactionId?: string | undefined
      /** A word that its runs can be cancelled by, such as the number of an order. Default: the workflow’s own */
      cancellationKey?: string | undefined
      /** A subscriber id, or a subscriber object that is created or updated */
      actor?: unknown | undefined
      /** The identifier of a tenant, or `{identifier, name?, data?}` */
      tenant?: unknown | undefined
      context?: Record<string, unknown> | undefined
      /** The URL of an application; runs the workflow as it is declared there now. For development */
      bridgeUrl?: string | undefined
      /** With `bridgeUrl`: control values of its steps, `{"steps": {"<stepId>": {…}}}` */
      controls?: Record<string, unknown> | undefined
      /** At most 100: a subscriber id, a subscriber object, a topic `{"type": "Topic", "topicKey": …, "exclude"?: […]}`, or a list of those */
      to: unknown
      payload?: Record<string, unknown> | undefined
    }
    answer: {
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The dashboard page with its activity */
      activityFeedLink?: string | undefined
    }
  }
  /** Trigger up to 100 events */
  'POST /v1/events/trigger/bulk': {
    body: {
      events: Array<{
        /** The identifier of the workflow */
        name: string
        overrides?: Record<string, unknown> | undefined
        /** A trigger with an id that was already used is ignored */
        transactionId?: string | undefined
        /** A word that its runs can be cancelled by, such as the number of an order. Default: the workflow’s own */
        cancellationKey?: string | undefined
        /** A subscriber id, or a subscriber object that is created or updated */
        actor?: unknown | undefined
        /** The identifier of a tenant, or `{identifier, name?, data?}` */
        tenant?: unknown | undefined
        context?: Record<string, unknown> | undefined
        /** The URL of an application; runs the workflow as it is declared there now. For development */
        bridgeUrl?: string | undefined
        /** With `bridgeUrl`: control values of its steps, `{"steps": {"<stepId>": {…}}}` */
        controls?: Record<string, unknown> | undefined
        /** At most 100: a subscriber id, a subscriber object, a topic `{"type": "Topic", "topicKey": …, "exclude"?: […]}`, or a list of those */
        to: unknown
        payload?: Record<string, unknown> | undefined
      }>
    }
    answer: Array<{
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The dashboard page with its activity */
      activityFeedLink?: string | undefined
    }>
  }
  /** Trigger an event for every subscriber */
  'POST /v1/events/trigger/broadcast': {
    body: {
      /** The identifier of the workflow */
      name: string
      overrides?: Record<string, unknown> | undefined
      /** A trigger with an id that was already used is ignored */
      transactionId?: string | undefined
      /** A word that its runs can be cancelled by, such as the number of an order. Default: the workflow’s own */
      cancellationKey?: string | undefined
      /** A subscriber id, or a subscriber object that is created or updated */
      actor?: unknown | undefined
      /** The identifier of a tenant, or `{identifier, name?, data?}` */
      tenant?: unknown | undefined
      context?: Record<string, unknown> | undefined
      /** The URL of an application; runs the workflow as it is declared there now. For development */
      bridgeUrl?: string | undefined
      /** With `bridgeUrl`: control values of its steps, `{"steps": {"<stepId>": {…}}}` */
      controls?: Record<string, unknown> | undefined
      payload: Record<string, unknown>
    }
    answer: {
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The dashboard page with its activity */
      activityFeedLink?: string | undefined
    }
  }
  /** Cancel the pending steps of a trigger */
  'DELETE /v1/events/trigger/{transactionId}': {
    path: {
      transactionId: string
    }
    answer: boolean
  }
  /** Report the progress of a trigger, and recipients without a run */
  'GET /v1/events/trigger/{transactionId}': {
    path: {
      transactionId: string
    }
    query?: {
      /** Only why this subscriber got no run */
      subscriberId?: string | undefined
      limit?: number | undefined
    }
    answer: {
      transactionId: string
      workflowId?: string | undefined
      /** Whether it waits for a worker, is expanding its topics, or has reached all its recipients */
      status: 'queued' | 'expanding' | 'expanded'
      runs: {
        processing: number
        completed: number
        error: number
      }
      passedOver: Array<{
        reason: 'topic_not_found' | 'topic_subscription_preference_evaluation' | 'excluded' | 'actor' | 'invalid_recipient' | 'canceled_by_user'
        /** For a topic subscription: why it excluded the workflow, such as `disabled` */
        detail?: string | undefined
        /** The unknown topic or invalid id, as the trigger has it */
        named?: string | undefined
        /** Up to 500; empty for a `named` topic or id, and for recipients left when the trigger was cancelled */
        subscriberIds: Array<string>
        createdAt: string
      }>
      /** Whether there are more than listed */
      hasMore: boolean
      createdAt: string
      startedAt?: string | undefined
    }
  }
  /** Cancel all runs under way that have a cancellation key */
  'POST /v1/events/cancel': {
    body: {
      key: string
      /** Only runs of this workflow */
      workflowId?: string | undefined
      /** Only runs for this subscriber; a topic or broadcast goes on for the others */
      subscriberId?: string | undefined
    }
    answer: {
      canceled: number
      hasMore: boolean
    }
  }
  /** Post an event that runs may wait for */
  'POST /v2/events': {
    body: {
      name: string
      /** Whom it is about */
      subscriberId?: string | undefined
      /** A word that the waiting side knows too, such as the number of a cart */
      key?: string | undefined
      /** Your name for it: one that was used is answered alike, and does nothing */
      id?: string | undefined
      payload?: Record<string, unknown> | undefined
    }
    answer: {
      acknowledged: boolean
      id: string
      createdAt: string
      isDuplicate: boolean
    }
  }
  /** List posted events, newest first */
  'GET /v2/events': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      name?: string | undefined
      subscriberId?: string | undefined
      key?: string | undefined
    }
    answer: {
      data: Array<{
        id: string
        name: string
        key: string | null
        subscriberId: string | null
        payload: Record<string, unknown>
        /** `done` once all runs that waited for it were told */
        status: 'matching' | 'done'
        /** How many waits it has ended */
        matched: number
        createdAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Post up to 100 events, all or none of them */
  'POST /v2/events/bulk': {
    body: {
      events: Array<{
        name: string
        /** Whom it is about */
        subscriberId?: string | undefined
        /** A word that the waiting side knows too, such as the number of a cart */
        key?: string | undefined
        /** Your name for it: one that was used is answered alike, and does nothing */
        id?: string | undefined
        payload?: Record<string, unknown> | undefined
      }>
    }
    answer: Array<{
      acknowledged: boolean
      id: string
      createdAt: string
      isDuplicate: boolean
    }>
  }
  /** Retrieve a posted event */
  'GET /v2/events/{id}': {
    path: {
      /** Your name for it, or the one that it was given */
      id: string
    }
    answer: {
      id: string
      name: string
      key: string | null
      subscriberId: string | null
      payload: Record<string, unknown>
      /** `done` once all runs that waited for it were told */
      status: 'matching' | 'done'
      /** How many waits it has ended */
      matched: number
      createdAt: string
    }
  }
  /** What to know for carrying out calls of another database */
  'GET /v2/outbox/settings': {
    answer: {
      /** How long a transactionId is remembered, in days (BELFRY_DEDUP_DAYS) */
      dedupDays: number
    }
  }
  /** List calls of the SQL functions that were refused */
  'GET /v2/outbox/refused': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** Only with this code */
      code?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        /** The function that was called */
        kind: 'trigger' | 'cancel' | 'upsert_subscriber'
        transactionId: string | null
        workflowId: string | null
        /** The code that the API would answer with */
        code: string
        message: string
        /** The role of the database that called */
        role: string
        /** What the call said, as a request says it */
        body: Record<string, unknown>
        calledAt: string
        refusedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Carry out refused calls again */
  'POST /v2/outbox/refused/retry': {
    body: {
      /** Which ones. Default: all of this environment */
      ids?: Array<string> | undefined
    }
    answer: {
      retried: number
    }
  }
  /** List questions, newest first */
  'GET /v2/questions': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      state?: 'open' | 'answered' | 'expired' | 'canceled' | undefined
      transactionId?: string | undefined
      /** Somebody who was asked */
      subscriberId?: string | undefined
      workflowId?: string | undefined
    }
    answer: {
      data: Array<{
        id: string
        question: string
        details: string | null
        answers: Array<{
          id: string
          label: string
        }>
        freeText: {
          label: string
          required: boolean
        } | null
        state: 'open' | 'answered' | 'expired' | 'canceled'
        answer: string | null
        answeredBy: {
          subscriberId: string | null
          name: string | null
          /** How they answered; `api` for the endpoint, `page` for the page */
          channel: string
          createdAt: string
          /** Who pressed the button in a chat */
          as?: {
            provider: string
            userId: string
            name: string | null
          } | undefined
          /** The member who answered as themselves */
          member?: {
            id: string
            name: string
          } | undefined
        } | null
        deadline: string
        /** What was written beside the answer */
        text: string | null
        /** Of the chain, from 0: how far it has come */
        level: number
        /** From 1 */
        round: number
        createdAt: string
        transactionId: string
        /** The run that asks */
        notificationId: string
        workflowId: string
        stepId: string
        /** An entry for each time somebody was asked, oldest first */
        asked: Array<{
          subscriberId: string
          level: number
          askedAt: string
          remindedAt: Array<string>
          channels: Array<{
            channel: string
            status: string
            reason: string | null
            messageId: string | null
          }>
        }>
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a question */
  'GET /v2/questions/{id}': {
    path: {
      id: string
    }
    answer: {
      id: string
      question: string
      details: string | null
      answers: Array<{
        id: string
        label: string
      }>
      freeText: {
        label: string
        required: boolean
      } | null
      state: 'open' | 'answered' | 'expired' | 'canceled'
      answer: string | null
      answeredBy: {
        subscriberId: string | null
        name: string | null
        /** How they answered; `api` for the endpoint, `page` for the page */
        channel: string
        createdAt: string
        /** Who pressed the button in a chat */
        as?: {
          provider: string
          userId: string
          name: string | null
        } | undefined
        /** The member who answered as themselves */
        member?: {
          id: string
          name: string
        } | undefined
      } | null
      deadline: string
      /** What was written beside the answer */
      text: string | null
      /** Of the chain, from 0: how far it has come */
      level: number
      /** From 1 */
      round: number
      createdAt: string
      transactionId: string
      /** The run that asks */
      notificationId: string
      workflowId: string
      stepId: string
      /** An entry for each time somebody was asked, oldest first */
      asked: Array<{
        subscriberId: string
        level: number
        askedAt: string
        remindedAt: Array<string>
        channels: Array<{
          channel: string
          status: string
          reason: string | null
          messageId: string | null
        }>
      }>
    }
  }
  /** Answer a question for somebody who was asked */
  'POST /v2/questions/{id}/answer': {
    path: {
      id: string
    }
    body: {
      /** The id of one of the answers */
      answer: string
      /** If the question asks for a text */
      text?: string | undefined
      /** Who answers. A member who is signed in may leave it out, and answers as themselves */
      subscriberId?: string | undefined
    }
    answer: {
      state: 'answered'
      answer: string
      answeredBy: {
        subscriberId: string | null
        name: string | null
        /** How they answered; `api` for the endpoint, `page` for the page */
        channel: string
        createdAt: string
        /** Who pressed the button in a chat */
        as?: {
          provider: string
          userId: string
          name: string | null
        } | undefined
        /** The member who answered as themselves */
        member?: {
          id: string
          name: string
        } | undefined
      } | null
      isYours: boolean
    }
  }
  /** Cancel the run that asks a question */
  'POST /v2/questions/{id}/cancel': {
    path: {
      id: string
    }
    answer: {
      canceled: boolean
    }
  }
  /** List rotas */
  'GET /v2/rotas': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
    }
    answer: {
      data: Array<{
        rotaId: string
        name: string
        timezone: string
        shifts: Array<{
          start: string
          end?: string | undefined
          who?: Array<string> | undefined
          rrule?: string | undefined
          duration?: {
            amount: number
            unit: string
          } | undefined
          turns?: Array<Array<string>> | undefined
        }>
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Create a rota */
  'POST /v2/rotas': {
    body: {
      rotaId: string
      name: string
      /** Such as `Europe/Berlin` */
      timezone: string
      /** The first that covers a moment decides: `{start, end, who}`, or `{start, rrule, duration, turns}` */
      shifts: Array<{
        /** A local time, such as `2026-11-02T09:00` */
        start: string
        /** A local time, such as `2026-11-02T09:00` */
        end?: string | undefined
        who?: Array<string> | undefined
        /** An RRULE of RFC 5545; `start` is its first occurrence */
        rrule?: string | undefined
        duration?: {
          amount: number
          unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
        } | undefined
        /** Occurrences go to them one after the other */
        turns?: Array<Array<string>> | undefined
      }>
    }
    answer: {
      rotaId: string
      name: string
      timezone: string
      shifts: Array<{
        start: string
        end?: string | undefined
        who?: Array<string> | undefined
        rrule?: string | undefined
        duration?: {
          amount: number
          unit: string
        } | undefined
        turns?: Array<Array<string>> | undefined
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve a rota */
  'GET /v2/rotas/{rotaId}': {
    path: {
      rotaId: string
    }
    answer: {
      rotaId: string
      name: string
      timezone: string
      shifts: Array<{
        start: string
        end?: string | undefined
        who?: Array<string> | undefined
        rrule?: string | undefined
        duration?: {
          amount: number
          unit: string
        } | undefined
        turns?: Array<Array<string>> | undefined
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Replace a rota */
  'PUT /v2/rotas/{rotaId}': {
    path: {
      rotaId: string
    }
    body: {
      name: string
      /** Such as `Europe/Berlin` */
      timezone: string
      /** The first that covers a moment decides: `{start, end, who}`, or `{start, rrule, duration, turns}` */
      shifts: Array<{
        /** A local time, such as `2026-11-02T09:00` */
        start: string
        /** A local time, such as `2026-11-02T09:00` */
        end?: string | undefined
        who?: Array<string> | undefined
        /** An RRULE of RFC 5545; `start` is its first occurrence */
        rrule?: string | undefined
        duration?: {
          amount: number
          unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
        } | undefined
        /** Occurrences go to them one after the other */
        turns?: Array<Array<string>> | undefined
      }>
    }
    answer: {
      rotaId: string
      name: string
      timezone: string
      shifts: Array<{
        start: string
        end?: string | undefined
        who?: Array<string> | undefined
        rrule?: string | undefined
        duration?: {
          amount: number
          unit: string
        } | undefined
        turns?: Array<Array<string>> | undefined
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a rota that no workflow uses */
  'DELETE /v2/rotas/{rotaId}': {
    path: {
      rotaId: string
    }
    answer: undefined
  }
  /** Find out who is on duty */
  'GET /v2/rotas/{rotaId}/on-duty': {
    path: {
      rotaId: string
    }
    query?: {
      /** Without it, now */
      at?: string | undefined
    }
    answer: {
      at: string
      subscriberIds: Array<string>
      from: string | null
      to: string | null
    }
  }
  /** List who is on duty over some days */
  'GET /v2/rotas/{rotaId}/duties': {
    path: {
      rotaId: string
    }
    query: {
      /** Without it, now */
      from?: string | undefined
      days: number
    }
    answer: {
      data: Array<{
        /** Nobody is on duty if it is empty */
        subscriberIds: Array<string>
        from: string | null
        to: string | null
      }>
    }
  }
  /** Play a scenario in memory */
  'POST /v1/simulations': {
    body: {
      workflow: {
        workflowId?: string | undefined
        version?: number | undefined
        /** The body of `POST /v2/workflows`, of which only `steps` is required. It is not saved */
        draft?: {
          steps: Array<{
            /** The id of an existing step, which keeps its `stepId` */
            _id?: string | null | undefined
            stepId?: string | null | undefined
            name: string
            type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request' | 'branch' | 'exit' | 'wait_for_event' | 'start_workflow' | 'update_subscriber' | 'ask'
            controlValues?: Record<string, unknown> | null | undefined
            /** False leaves it out of future runs */
            active?: boolean | null | undefined
            /** Whether its failure ends the run */
            shouldStopOnFail?: boolean | null | undefined
            /** After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration */
            onUnknown?: 'retry' | 'hold' | null | undefined
            /** Where replies to its emails go */
            replyCallback?: {
              active?: boolean | undefined
              url?: string | undefined
            } | null | undefined
            /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
            filters?: Array<unknown> | null | undefined
            variants?: Array<{
              _id?: string | null | undefined
              name?: string | null | undefined
              active?: boolean | null | undefined
              /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
              filters: Array<unknown>
              controlValues?: Record<string, unknown> | null | undefined
            }> | null | undefined
          }>
          name?: string | undefined
          workflowId?: string | undefined
          description?: string | null | undefined
          tags?: Array<string> | null | undefined
          active?: boolean | null | undefined
          validatePayload?: boolean | null | undefined
          payloadSchema?: Record<string, unknown> | null | undefined
          isTranslationEnabled?: boolean | null | undefined
          severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
          /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
          messageClass?: 'transactional' | 'commercial' | null | undefined
          /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
          consentCategory?: string | null | undefined
          /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
          tracking?: {
            /** Whether emails have an image that tells when they are opened */
            opens?: boolean | null | undefined
            /** Whether links in emails lead through this service, which counts clicks */
            clicks?: boolean | null | undefined
          } | null | undefined
          /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
          journey?: {
            /** A template over `payload` and `context`: what runs can be cancelled by */
            cancellationKey?: string | null | undefined
            /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
            quietHours?: 'skip' | 'hold' | null | undefined
            goals?: Array<{
              name: string
              /** What it waits for, written as that of a step `wait_for_event` */
              for?: Array<Record<string, unknown>> | undefined
              /** Asked of what `for` finds; without `for`, before each step */
              condition?: Record<string, unknown> | undefined
            }> | null | undefined
            /** Its messages neither count in caps nor are held back by them */
            exemptFromCaps?: boolean | null | undefined
          } | null | undefined
          preferences?: {
            user?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
            workflow?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
            /** The same as `workflow`, as answers say it; counts only if `workflow` is absent */
            default?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
          } | null | undefined
        } | undefined
      }
      /** A moment; without it, now */
      startAt?: string | undefined
      /** A duration up to `366d`; without it, `30d` */
      horizon?: string | undefined
      seed?: number | undefined
      subscribers?: Array<{
        subscriberId: string
        base?: 'stored' | undefined
        preferences?: {
          channels?: {
            email?: boolean | undefined
            sms?: boolean | undefined
            in_app?: boolean | undefined
            chat?: boolean | undefined
            push?: boolean | undefined
          } | undefined
          schedule?: {
            isEnabled: boolean
            weeklySchedule?: {
              monday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              tuesday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              wednesday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              thursday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              friday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              saturday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
              sunday?: {
                isEnabled: boolean
                hours?: Array<{
                  start: string
                  end: string
                }> | undefined
              } | undefined
            } | undefined
          } | undefined
          /** A moment; commercial messages pause until then. Null ends the pause */
          snoozedUntil?: string | null | undefined
          workflows?: Record<string, {
            channels: {
              email?: boolean | undefined
              sms?: boolean | undefined
              in_app?: boolean | undefined
              chat?: boolean | undefined
              push?: boolean | undefined
            }
          }> | undefined
        } | undefined
        /** A moment; commercial messages pause until then. Null ends the pause */
        snoozedUntil?: string | null | undefined
      } & Record<string, unknown>> | undefined
      topics?: Array<{
        topicKey: string
        subscriberIds: Array<string>
      }> | undefined
      /** Instead of the environment's active ones, without credentials */
      integrations?: Array<{
        identifier: string
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        providerId: string
        primary?: boolean | undefined
        priority?: number | undefined
        conditions?: Array<Record<string, unknown>> | undefined
      }> | undefined
      answers?: Record<string, Record<string, unknown>> | undefined
      inputs: Array<{
        /** One of trigger, cancel, event, answer, seen, read, unread, acted, preferences, subscriber, workflow, fault */
        type: string
        /** `+2h` from the start, ISO 8601, or `2026-03-29T02:30[Europe/Berlin]` */
        at: string
        /** The body of `POST /v2/workflows`, of which only `steps` is required. It is not saved */
        draft?: {
          steps: Array<{
            /** The id of an existing step, which keeps its `stepId` */
            _id?: string | null | undefined
            stepId?: string | null | undefined
            name: string
            type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request' | 'branch' | 'exit' | 'wait_for_event' | 'start_workflow' | 'update_subscriber' | 'ask'
            controlValues?: Record<string, unknown> | null | undefined
            /** False leaves it out of future runs */
            active?: boolean | null | undefined
            /** Whether its failure ends the run */
            shouldStopOnFail?: boolean | null | undefined
            /** After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration */
            onUnknown?: 'retry' | 'hold' | null | undefined
            /** Where replies to its emails go */
            replyCallback?: {
              active?: boolean | undefined
              url?: string | undefined
            } | null | undefined
            /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
            filters?: Array<unknown> | null | undefined
            variants?: Array<{
              _id?: string | null | undefined
              name?: string | null | undefined
              active?: boolean | null | undefined
              /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
              filters: Array<unknown>
              controlValues?: Record<string, unknown> | null | undefined
            }> | null | undefined
          }>
          name?: string | undefined
          workflowId?: string | undefined
          description?: string | null | undefined
          tags?: Array<string> | null | undefined
          active?: boolean | null | undefined
          validatePayload?: boolean | null | undefined
          payloadSchema?: Record<string, unknown> | null | undefined
          isTranslationEnabled?: boolean | null | undefined
          severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
          /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
          messageClass?: 'transactional' | 'commercial' | null | undefined
          /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
          consentCategory?: string | null | undefined
          /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
          tracking?: {
            /** Whether emails have an image that tells when they are opened */
            opens?: boolean | null | undefined
            /** Whether links in emails lead through this service, which counts clicks */
            clicks?: boolean | null | undefined
          } | null | undefined
          /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
          journey?: {
            /** A template over `payload` and `context`: what runs can be cancelled by */
            cancellationKey?: string | null | undefined
            /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
            quietHours?: 'skip' | 'hold' | null | undefined
            goals?: Array<{
              name: string
              /** What it waits for, written as that of a step `wait_for_event` */
              for?: Array<Record<string, unknown>> | undefined
              /** Asked of what `for` finds; without `for`, before each step */
              condition?: Record<string, unknown> | undefined
            }> | null | undefined
            /** Its messages neither count in caps nor are held back by them */
            exemptFromCaps?: boolean | null | undefined
          } | null | undefined
          preferences?: {
            user?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
            workflow?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
            /** The same as `workflow`, as answers say it; counts only if `workflow` is absent */
            default?: {
              all?: {
                enabled?: boolean | undefined
                readOnly?: boolean | undefined
              } | null | undefined
              channels?: {
                email?: {
                  enabled?: boolean | undefined
                } | null | undefined
                sms?: {
                  enabled?: boolean | undefined
                } | null | undefined
                in_app?: {
                  enabled?: boolean | undefined
                } | null | undefined
                chat?: {
                  enabled?: boolean | undefined
                } | null | undefined
                push?: {
                  enabled?: boolean | undefined
                } | null | undefined
              } | null | undefined
            } | null | undefined
          } | null | undefined
        } | undefined
        schedule?: {
          isEnabled: boolean
          weeklySchedule?: {
            monday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            tuesday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            wednesday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            thursday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            friday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            saturday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
            sunday?: {
              isEnabled: boolean
              hours?: Array<{
                start: string
                end: string
              }> | undefined
            } | undefined
          } | undefined
        } | undefined
        /** A moment; commercial messages pause until then. Null ends the pause */
        snoozedUntil?: string | null | undefined
      } & Record<string, unknown>>
      expect?: Array<Record<string, unknown>> | undefined
      /** Every step has its log */
      details?: boolean | undefined
    }
    answer: {
      startAt: string
      endAt: string
      /** `nothing_left` or `horizon` */
      stoppedBy: string
      seed: number
      workflow: {
        workflowId: string
        /** Null for a draft */
        version: number | null
        issues: number
      }
      triggers: Array<Record<string, unknown>>
      runs: Array<Record<string, unknown>>
      windows: Array<Record<string, unknown>>
      messages: Array<Record<string, unknown>>
      timeline: Array<Record<string, unknown>>
      totals: Record<string, unknown>
      waiting: Array<Record<string, unknown>>
      assumed: Array<Record<string, unknown>>
      expectations: Array<Record<string, unknown>>
      /** Whether all expectations hold */
      passed: boolean
    }
  }
  /** Explain whether somebody would get a notification, or why not */
  'GET /v1/explain': {
    query: {
      /** To look ahead */
      workflowId?: string | undefined
      /** To look back, instead of a workflow */
      transactionId?: string | undefined
      subscriberId: string
      tenant?: string | undefined
      /** When it would be triggered; without it, now */
      at?: string | undefined
      /** JSON */
      payload?: string | undefined
      /** JSON */
      context?: string | undefined
    }
    answer: {
      /** True if it tells what happened */
      past?: boolean | undefined
      transactionId?: string | undefined
      notificationId?: string | null | undefined
      workflowId: string
      workflowVersion?: number | null | undefined
      subscriberId: string
      at: string
      /** The status of the trigger; `payload_invalid` if its payload does not fit */
      trigger: string
      /** Why the trigger would be refused */
      problem?: string | undefined
      /** Whether any message is sent */
      wouldGet: boolean
      channels: Record<string, {
        wouldGet: boolean
        stepId: string
        reason: string | null
        at: string | null
      }>
      steps: Array<{
        stepId: string
        type: string
        /** Of a kind such as `branch` */
        kind?: string | undefined
        /** The arms that lead to it, outermost first; absent at the top level */
        path?: Array<{
          stepId: string
          arm: string
        }> | undefined
        /** Of a copy of a question to this person: the step that asks */
        of?: string | undefined
        verdict: 'sends' | 'waits' | 'passes' | 'held_back' | 'fails' | 'not_reached'
        reason: string | null
        /** When its turn comes */
        at: string | null
        /** Until when it waits */
        until: string | null
        /** In the order in which they are asked */
        gates: Array<{
          gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
          /** Null where only a call could tell */
          passed: boolean | null
        } & Record<string, unknown>>
        /** The fewest changes after which it sends. Null if it sends already, or nothing would help */
        remedy: {
          changes: Array<{
            gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
            text: string
            by: 'time' | 'subscriber' | 'you'
            /** Until when, if time does it */
            wait: string | null
            /** Can be sent as it is. Null if it needs a value that only a person knows */
            request: {
              method: string
              path: string
              body?: Record<string, unknown> | undefined
            } | null
          }>
        } | null
      }>
      /** The smallest of the steps. Null if something is sent already, or nothing would help */
      remedy: {
        channel: string
        changes: Array<{
          gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
          text: string
          by: 'time' | 'subscriber' | 'you'
          /** Until when, if time does it */
          wait: string | null
          /** Can be sent as it is. Null if it needs a value that only a person knows */
          request: {
            method: string
            path: string
            body?: Record<string, unknown> | undefined
          } | null
        }>
      } | null
      /** Why there is no run. Null if there may still be one */
      passedOver?: {
        reason: string
        detail?: string | undefined
      } | null | undefined
    }
  }
  /** Explain whether somebody would get a notification, or why not, with a body */
  'POST /v1/explain': {
    body: {
      /** To look ahead */
      workflowId?: string | undefined
      /** To look back, instead of a workflow */
      transactionId?: string | undefined
      subscriberId: string
      tenant?: string | undefined
      /** When it would be triggered; without it, now */
      at?: string | undefined
      payload?: Record<string, unknown> | undefined
      context?: Record<string, unknown> | undefined
    }
    answer: {
      /** True if it tells what happened */
      past?: boolean | undefined
      transactionId?: string | undefined
      notificationId?: string | null | undefined
      workflowId: string
      workflowVersion?: number | null | undefined
      subscriberId: string
      at: string
      /** The status of the trigger; `payload_invalid` if its payload does not fit */
      trigger: string
      /** Why the trigger would be refused */
      problem?: string | undefined
      /** Whether any message is sent */
      wouldGet: boolean
      channels: Record<string, {
        wouldGet: boolean
        stepId: string
        reason: string | null
        at: string | null
      }>
      steps: Array<{
        stepId: string
        type: string
        /** Of a kind such as `branch` */
        kind?: string | undefined
        /** The arms that lead to it, outermost first; absent at the top level */
        path?: Array<{
          stepId: string
          arm: string
        }> | undefined
        /** Of a copy of a question to this person: the step that asks */
        of?: string | undefined
        verdict: 'sends' | 'waits' | 'passes' | 'held_back' | 'fails' | 'not_reached'
        reason: string | null
        /** When its turn comes */
        at: string | null
        /** Until when it waits */
        until: string | null
        /** In the order in which they are asked */
        gates: Array<{
          gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
          /** Null where only a call could tell */
          passed: boolean | null
        } & Record<string, unknown>>
        /** The fewest changes after which it sends. Null if it sends already, or nothing would help */
        remedy: {
          changes: Array<{
            gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
            text: string
            by: 'time' | 'subscriber' | 'you'
            /** Until when, if time does it */
            wait: string | null
            /** Can be sent as it is. Null if it needs a value that only a person knows */
            request: {
              method: string
              path: string
              body?: Record<string, unknown> | undefined
            } | null
          }>
        } | null
      }>
      /** The smallest of the steps. Null if something is sent already, or nothing would help */
      remedy: {
        channel: string
        changes: Array<{
          gate: 'workflow' | 'branch' | 'schedule' | 'preference' | 'condition' | 'filters' | 'throttle' | 'cap' | 'integration' | 'address' | 'content' | 'brake' | 'suppression'
          text: string
          by: 'time' | 'subscriber' | 'you'
          /** Until when, if time does it */
          wait: string | null
          /** Can be sent as it is. Null if it needs a value that only a person knows */
          request: {
            method: string
            path: string
            body?: Record<string, unknown> | undefined
          } | null
        }>
      } | null
      /** Why there is no run. Null if there may still be one */
      passedOver?: {
        reason: string
        detail?: string | undefined
      } | null | undefined
    }
  }
  /** What a change of a workflow would do */
  'POST /v2/workflows/{workflowId}/impact': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      /** The body of `PUT` */
      draft: {
        name: string
        steps: Array<{
          /** The id of an existing step, which keeps its `stepId` */
          _id?: string | null | undefined
          stepId?: string | null | undefined
          name: string
          type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request' | 'branch' | 'exit' | 'wait_for_event' | 'start_workflow' | 'update_subscriber' | 'ask'
          controlValues?: Record<string, unknown> | null | undefined
          /** False leaves it out of future runs */
          active?: boolean | null | undefined
          /** Whether its failure ends the run */
          shouldStopOnFail?: boolean | null | undefined
          /** After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration */
          onUnknown?: 'retry' | 'hold' | null | undefined
          /** Where replies to its emails go */
          replyCallback?: {
            active?: boolean | undefined
            url?: string | undefined
          } | null | undefined
          /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
          filters?: Array<unknown> | null | undefined
          variants?: Array<{
            _id?: string | null | undefined
            name?: string | null | undefined
            active?: boolean | null | undefined
            /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
            filters: Array<unknown>
            controlValues?: Record<string, unknown> | null | undefined
          }> | null | undefined
        }>
        /** Required, except with `upsert` */
        preferences?: {
          user?: {
            all?: {
              enabled?: boolean | undefined
              readOnly?: boolean | undefined
            } | null | undefined
            channels?: {
              email?: {
                enabled?: boolean | undefined
              } | null | undefined
              sms?: {
                enabled?: boolean | undefined
              } | null | undefined
              in_app?: {
                enabled?: boolean | undefined
              } | null | undefined
              chat?: {
                enabled?: boolean | undefined
              } | null | undefined
              push?: {
                enabled?: boolean | undefined
              } | null | undefined
            } | null | undefined
          } | null | undefined
          workflow?: {
            all?: {
              enabled?: boolean | undefined
              readOnly?: boolean | undefined
            } | null | undefined
            channels?: {
              email?: {
                enabled?: boolean | undefined
              } | null | undefined
              sms?: {
                enabled?: boolean | undefined
              } | null | undefined
              in_app?: {
                enabled?: boolean | undefined
              } | null | undefined
              chat?: {
                enabled?: boolean | undefined
              } | null | undefined
              push?: {
                enabled?: boolean | undefined
              } | null | undefined
            } | null | undefined
          } | null | undefined
          /** The same as `workflow`, as answers say it; counts only if `workflow` is absent */
          default?: {
            all?: {
              enabled?: boolean | undefined
              readOnly?: boolean | undefined
            } | null | undefined
            channels?: {
              email?: {
                enabled?: boolean | undefined
              } | null | undefined
              sms?: {
                enabled?: boolean | undefined
              } | null | undefined
              in_app?: {
                enabled?: boolean | undefined
              } | null | undefined
              chat?: {
                enabled?: boolean | undefined
              } | null | undefined
              push?: {
                enabled?: boolean | undefined
              } | null | undefined
            } | null | undefined
          } | null | undefined
        } | undefined
        /** Required, except with `upsert`. Ignored: a workflow keeps its origin */
        origin?: 'svc-cloud' | 'svc-cloud-v1' | 'external' | undefined
        /** Applied to code-first workflows only. With `upsert` it must be the one in the path */
        workflowId?: string | null | undefined
        description?: string | null | undefined
        tags?: Array<string> | null | undefined
        active?: boolean | null | undefined
        validatePayload?: boolean | null | undefined
        payloadSchema?: Record<string, unknown> | null | undefined
        isTranslationEnabled?: boolean | null | undefined
        severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
        /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
        messageClass?: 'transactional' | 'commercial' | null | undefined
        /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
        consentCategory?: string | null | undefined
        /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
        tracking?: {
          /** Whether emails have an image that tells when they are opened */
          opens?: boolean | null | undefined
          /** Whether links in emails lead through this service, which counts clicks */
          clicks?: boolean | null | undefined
        } | null | undefined
        /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
        journey?: {
          /** A template over `payload` and `context`: what runs can be cancelled by */
          cancellationKey?: string | null | undefined
          /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
          quietHours?: 'skip' | 'hold' | null | undefined
          goals?: Array<{
            name: string
            /** What it waits for, written as that of a step `wait_for_event` */
            for?: Array<Record<string, unknown>> | undefined
            /** Asked of what `for` finds; without `for`, before each step */
            condition?: Record<string, unknown> | undefined
          }> | null | undefined
          /** Its messages neither count in caps nor are held back by them */
          exemptFromCaps?: boolean | null | undefined
        } | null | undefined
        /** The `version` on which the change is based. If another one is stored, the answer is 409 `workflow_changed` with the stored workflow, and nothing is saved. Without it, the last save wins */
        baseVersion?: number | null | undefined
      }
      /** How many of the last triggers to play; without it, 100 */
      triggers?: number | undefined
    }
    answer: {
      workflowId: string
      /** The one that would be changed; null for a new workflow */
      version: number | null
      /** Runs of any version that wait. They go on as they began */
      waiting: {
        runs: number
        steps: Array<{
          stepId: string
          type: string
          runs: number
          /** What becomes of the step */
          change: 'none' | 'changed' | 'removed'
        }>
      }
      /** What the change reads and some of these triggers leave empty, without a default */
      variables: Array<{
        stepId: string
        name: string
        missingIn: number
        of: number
      }>
      replay: {
        triggers: number
        runs: number
        same: number
        different: number
        /** Runs of people who are gone */
        left: number
        kinds: {
          more: number
          fewer: number
          content: number
          time: number
          reason: number
        }
        /** Up to 20, some of every kind. None for a key that may not read the environment */
        examples: Array<{
          transactionId: string
          subscriberId: string
          kind: 'more' | 'fewer' | 'content' | 'time' | 'reason'
          changes: Array<{
            stepId: string
            member: string
            before: unknown
            after: unknown
          }>
          /** The message that differs; null on the side that has none */
          messages: {
            before: Record<string, unknown> | null
            after: Record<string, unknown> | null
          }
        }>
      }
      /** For `Belfry-Impact-Token`, so that exactly this is saved */
      impactToken: string
    }
  }
  /** What a publish would do */
  'POST /v2/environments/{targetEnvironmentId}/impact': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; default: the Development environment */
      sourceEnvironmentId?: string | undefined
      /** Change nothing, and report what would happen */
      dryRun?: boolean | undefined
      /** Also delete what only the target has; otherwise it is kept, and reported as skipped */
      deleteMissing?: boolean | undefined
      /** Publish only these, and the layouts that the workflows among them use. A named resource that only the target has is deleted */
      resources?: Array<{
        /** `workflow` or `layout`; the last three mean the workflow with that id, or else the layout */
        resourceType: 'workflow' | 'layout' | 'WORKFLOW' | 'LAYOUT' | 'REGULAR' | 'ECHO' | 'BRIDGE'
        /** Identifier, slug or internal id */
        resourceId: string
      }> | undefined
      /** How many of the last triggers to play; without it, 100 */
      triggers?: number | undefined
    }
    answer: {
      workflows: Array<{
        workflowId: string
        /** The one that would be changed; null for a new workflow */
        version: number | null
        /** Runs of any version that wait. They go on as they began */
        waiting: {
          runs: number
          steps: Array<{
            stepId: string
            type: string
            runs: number
            /** What becomes of the step */
            change: 'none' | 'changed' | 'removed'
          }>
        }
        /** What the change reads and some of these triggers leave empty, without a default */
        variables: Array<{
          stepId: string
          name: string
          missingIn: number
          of: number
        }>
        replay: {
          triggers: number
          runs: number
          same: number
          different: number
          /** Runs of people who are gone */
          left: number
          kinds: {
            more: number
            fewer: number
            content: number
            time: number
            reason: number
          }
          /** Up to 20, some of every kind. None for a key that may not read the environment */
          examples: Array<{
            transactionId: string
            subscriberId: string
            kind: 'more' | 'fewer' | 'content' | 'time' | 'reason'
            changes: Array<{
              stepId: string
              member: string
              before: unknown
              after: unknown
            }>
            /** The message that differs; null on the side that has none */
            messages: {
              before: Record<string, unknown> | null
              after: Record<string, unknown> | null
            }
          }>
        }
        /** For `Belfry-Impact-Token`, so that exactly this is saved */
        impactToken: string
      }>
      /** For the whole publish */
      impactToken: string
    }
  }
  /** Create a context */
  'POST /v2/contexts': {
    body: {
      type: string
      id: string
      data?: Record<string, unknown> | undefined
    }
    answer: {
      type: string
      id: string
      data: Record<string, unknown>
      createdAt: string
      updatedAt: string
    }
  }
  /** List contexts */
  'GET /v2/contexts': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      type?: string | undefined
      id?: string | undefined
      /** Part of `type:id`, case-insensitive */
      search?: string | undefined
    }
    answer: {
      data: Array<{
        type: string
        id: string
        data: Record<string, unknown>
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a context */
  'GET /v2/contexts/{type}/{id}': {
    path: {
      type: string
      id: string
    }
    answer: {
      type: string
      id: string
      data: Record<string, unknown>
      createdAt: string
      updatedAt: string
    }
  }
  /** Replace a context's data */
  'PATCH /v2/contexts/{type}/{id}': {
    path: {
      type: string
      id: string
    }
    body: {
      data: Record<string, unknown>
    }
    answer: {
      type: string
      id: string
      data: Record<string, unknown>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a context */
  'DELETE /v2/contexts/{type}/{id}': {
    path: {
      type: string
      id: string
    }
    answer: undefined
  }
  /** Create or update a subscriber */
  'POST /v2/subscribers': {
    query?: {
      /** Do not change an existing subscriber; answer 409 */
      failIfExists?: boolean | undefined
    }
    body: {
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Search subscribers */
  'GET /v2/subscribers': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** Part of the address, case-insensitive */
      email?: string | undefined
      /** Part of the number */
      phone?: string | undefined
      /** Part of the full name, case-insensitive */
      name?: string | undefined
      /** The exact id */
      subscriberId?: string | undefined
      /** Fields of their data and the value each must have: `plan=pro`, `address.city=Berlin`. A list matches if it has the value */
      data?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a subscriber */
  'GET /v2/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of a subscriber */
  'PATCH /v2/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    body: {
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a subscriber with all its data */
  'DELETE /v2/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    answer: {
      acknowledged: boolean
      status: string
    }
  }
  /** Delete up to 100 subscribers with all their data */
  'POST /v2/subscribers/bulk-delete': {
    body: {
      subscriberIds: Array<string>
    }
    answer: {
      deleted: number
      missing: Array<string>
    }
  }
  /** Create or update up to 500 subscribers */
  'POST /v1/subscribers/bulk': {
    body: {
      subscribers: Array<{
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels?: Array<{
          providerId: 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad'
          /** Default: the newest active one of the provider */
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }> | undefined
      }>
    }
    answer: {
      created: Array<{
        subscriberId: string
      }>
      updated: Array<{
        subscriberId: string
      }>
      failed: Array<{
        subscriberId: string
        message: string
      }>
    }
  }
  /** Set whether a subscriber is online */
  'PATCH /v1/subscribers/{subscriberId}/online-status': {
    path: {
      subscriberId: string
    }
    body: {
      isOnline: boolean
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** List subscribers by page number */
  'GET /v1/subscribers': {
    query?: {
      page?: number | undefined
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Create or update a subscriber */
  'POST /v1/subscribers': {
    body: {
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels?: Array<{
        providerId: 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad'
        /** Default: the newest active one of the provider */
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }> | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve a subscriber */
  'GET /v1/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    query?: {
      /** Adds the keys of its first 1000 topics */
      includeTopics?: boolean | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of a subscriber */
  'PUT /v1/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    body: {
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels?: Array<{
        providerId: 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad'
        /** Default: the newest active one of the provider */
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }> | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a subscriber; messages sent to it stay */
  'DELETE /v1/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    answer: {
      acknowledged: boolean
      status: string
    }
  }
  /** Set a subscriber's credentials for a provider; device tokens are replaced */
  'PUT /v1/subscribers/{subscriberId}/credentials': {
    path: {
      subscriberId: string
    }
    body: {
      providerId: 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad'
      /** Default: the newest active one of the provider */
      integrationIdentifier?: string | undefined
      credentials: {
        webhookUrl?: string | undefined
        channel?: string | undefined
        deviceTokens?: Array<string> | undefined
        alertUid?: string | undefined
        title?: string | undefined
        imageUrl?: string | undefined
        state?: string | undefined
        externalUrl?: string | undefined
      }
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Set a subscriber's credentials for a provider; device tokens are added */
  'PATCH /v1/subscribers/{subscriberId}/credentials': {
    path: {
      subscriberId: string
    }
    body: {
      providerId: 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad'
      /** Default: the newest active one of the provider */
      integrationIdentifier?: string | undefined
      credentials: {
        webhookUrl?: string | undefined
        channel?: string | undefined
        deviceTokens?: Array<string> | undefined
        alertUid?: string | undefined
        title?: string | undefined
        imageUrl?: string | undefined
        state?: string | undefined
        externalUrl?: string | undefined
      }
    }
    answer: {
      _id: string
      _organizationId: string
      _environmentId: string
      subscriberId: string
      firstName?: string | null | undefined
      lastName?: string | null | undefined
      email?: string | null | undefined
      phone?: string | null | undefined
      avatar?: string | null | undefined
      locale?: string | null | undefined
      timezone?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
      channels: Array<{
        providerId: string
        _integrationId: string
        integrationIdentifier?: string | undefined
        credentials: {
          webhookUrl?: string | undefined
          channel?: string | undefined
          deviceTokens?: Array<string> | undefined
          alertUid?: string | undefined
          title?: string | undefined
          imageUrl?: string | undefined
          state?: string | undefined
          externalUrl?: string | undefined
        }
      }>
      topics?: Array<string> | undefined
      isOnline: boolean
      lastOnlineAt: string | null
      deleted: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a subscriber's credentials for all integrations of a provider */
  'DELETE /v1/subscribers/{subscriberId}/credentials/{providerId}': {
    path: {
      subscriberId: string
      providerId: string
    }
    answer: undefined
  }
  /** Retrieve a subscriber's preferences */
  'GET /v2/subscribers/{subscriberId}/preferences': {
    path: {
      subscriberId: string
    }
    query?: {
      criticality?: 'critical' | 'nonCritical' | 'all' | undefined
      contextKeys?: Array<string> | undefined
    }
    answer: {
      global: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
      }
      workflows: Array<{
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        /** Which layer decided about each channel */
        overrides: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: 'template' | 'workflowOverride' | 'subscriber'
        }>
        workflow: {
          slug: string
          identifier: string
          name: string
          updatedAt: string
        }
        updatedAt?: string | undefined
      }>
    }
  }
  /** Change a subscriber's preferences, globally or for one workflow */
  'PATCH /v2/subscribers/{subscriberId}/preferences': {
    path: {
      subscriberId: string
    }
    body: {
      channels?: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      } | undefined
      /** Without it the channels apply to all workflows */
      workflowId?: string | undefined
      schedule?: {
        isEnabled: boolean
        weeklySchedule?: {
          monday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          tuesday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          wednesday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          thursday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          friday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          saturday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          sunday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
        } | undefined
      } | undefined
      /** Pauses commercial messages until then, up to 365 days; null ends the pause */
      snoozedUntil?: string | null | undefined
      context?: Record<string, unknown> | undefined
    }
    answer: {
      global: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
      }
      workflows: Array<{
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        /** Which layer decided about each channel */
        overrides: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: 'template' | 'workflowOverride' | 'subscriber'
        }>
        workflow: {
          slug: string
          identifier: string
          name: string
          updatedAt: string
        }
        updatedAt?: string | undefined
      }>
    }
  }
  /** Change a subscriber's preferences for up to 100 workflows, all or none */
  'PATCH /v2/subscribers/{subscriberId}/preferences/bulk': {
    path: {
      subscriberId: string
    }
    body: {
      preferences: Array<{
        workflowId: string
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
      }>
      context?: Record<string, unknown> | undefined
    }
    answer: Array<{
      level: 'global' | 'template'
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: string
      }
      enabled: boolean
      channels: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
    }>
  }
  /** Retrieve a subscriber's preferences for every workflow */
  'GET /v1/subscribers/{subscriberId}/preferences': {
    path: {
      subscriberId: string
    }
    answer: Array<{
      template: {
        _id: string
        name: string
        critical: boolean
        triggers: Array<{
          type: string
          identifier: string
        }>
      }
      preference: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        overrides?: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: string
        }> | undefined
      }
    }>
  }
  /** Change a subscriber's global preferences */
  'PATCH /v1/subscribers/{subscriberId}/preferences': {
    path: {
      subscriberId: string
    }
    body: {
      enabled?: boolean | undefined
      preferences?: Array<{
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        enabled: boolean
      }> | undefined
    }
    answer: {
      preference: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        overrides?: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: string
        }> | undefined
      }
    }
  }
  /** Retrieve a subscriber's preferences for every workflow, or the global ones */
  'GET /v1/subscribers/{subscriberId}/preferences/{level}': {
    path: {
      subscriberId: string
      level: 'template' | 'global'
    }
    answer: Array<{
      template?: {
        _id: string
        name: string
        critical: boolean
        triggers: Array<{
          type: string
          identifier: string
        }>
      } | undefined
      preference?: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        overrides?: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: string
        }> | undefined
      } | undefined
    }>
  }
  /** Change a subscriber's preferences for one workflow */
  'PATCH /v1/subscribers/{subscriberId}/preferences/{workflowId}': {
    path: {
      subscriberId: string
      workflowId: string
    }
    body: {
      enabled?: boolean | undefined
      channel?: {
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        enabled: boolean
      } | undefined
    }
    answer: {
      template: {
        _id: string
        name: string
        critical: boolean
        triggers: Array<{
          type: string
          identifier: string
        }>
      }
      preference: {
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        overrides?: Array<{
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          source: string
        }> | undefined
      }
    }
  }
  /** Erase a subscriber with all data of the person in this environment */
  'POST /v2/subscribers/{subscriberId}/erase': {
    path: {
      subscriberId: string
    }
    answer: {
      _id: string
      status: 'pending' | 'running' | 'completed'
      /** Removed rows, by table; `events_changed` counts triggers for others that named the person */
      report: Record<string, number>
      createdAt: string
      completedAt: string | null
    }
  }
  /** List the erasures of this environment */
  'GET /v2/erasures': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
    }
    answer: {
      data: Array<{
        _id: string
        status: 'pending' | 'running' | 'completed'
        /** Removed rows, by table; `events_changed` counts triggers for others that named the person */
        report: Record<string, number>
        createdAt: string
        completedAt: string | null
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve the progress of an erasure, and what was removed */
  'GET /v2/erasures/{erasureId}': {
    path: {
      erasureId: string
    }
    answer: {
      _id: string
      status: 'pending' | 'running' | 'completed'
      /** Removed rows, by table; `events_changed` counts triggers for others that named the person */
      report: Record<string, number>
      createdAt: string
      completedAt: string | null
    }
  }
  /** Export all data of a subscriber, as JSON */
  'GET /v2/subscribers/{subscriberId}/export': {
    path: {
      subscriberId: string
    }
    answer: {
      subscriberId: string
      exportedAt: string
      /** Rows by kind */
      data: Record<string, Array<Record<string, unknown>>>
    }
  }
  /** List the suppression list, newest first */
  'GET /v1/suppressions': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      channel?: 'email' | 'sms' | 'push' | 'chat' | undefined
      /** The whole address; it also finds entries of people who were erased */
      address?: string | undefined
      reason?: 'hard_bounce' | 'soft_bounces' | 'complaint' | 'unsubscribe' | 'manual' | 'stop' | undefined
      source?: 'header' | 'page' | 'mailto' | 'provider' | 'dsn' | 'feedback' | 'sms' | 'api' | 'import' | 'dashboard' | undefined
      scope?: 'all' | 'commercial' | 'workflow' | 'category' | undefined
      subscriberId?: string | undefined
      includeExpired?: boolean | undefined
    }
    answer: {
      data: Array<{
        _id: string
        channel: 'email' | 'sms' | 'push' | 'chat'
        /** In the form in which it is compared; null once its subscriber was erased */
        address: string | null
        /** The SHA-256 of the address, in hex */
        addressHash: string
        reason: 'hard_bounce' | 'soft_bounces' | 'complaint' | 'unsubscribe' | 'manual' | 'stop'
        scope: {
          type: 'all' | 'commercial' | 'workflow' | 'category'
          /** With `workflow` */
          workflowId?: string | undefined
          /** With `category` */
          category?: string | undefined
          /** Workflows of the category that are not held back */
          except?: Array<string> | undefined
        }
        source: 'header' | 'page' | 'mailto' | 'provider' | 'dsn' | 'feedback' | 'sms' | 'api' | 'import' | 'dashboard'
        subscriberId: string | null
        integrationId: string | null
        messageId: string | null
        note: string | null
        expiresAt: string | null
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Add an address to the suppression list */
  'POST /v1/suppressions': {
    body: {
      channel: 'email' | 'sms' | 'push' | 'chat'
      address: string
      reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'stop' | undefined
      scope?: {
        type: 'all' | 'commercial' | 'workflow' | 'category'
        /** With `workflow`: its identifier */
        workflowId?: string | undefined
        category?: string | undefined
        /** With `category` */
        except?: Array<string> | undefined
      } | undefined
      expiresAt?: string | null | undefined
      note?: string | null | undefined
    }
    answer: {
      _id: string
      channel: 'email' | 'sms' | 'push' | 'chat'
      /** In the form in which it is compared; null once its subscriber was erased */
      address: string | null
      /** The SHA-256 of the address, in hex */
      addressHash: string
      reason: 'hard_bounce' | 'soft_bounces' | 'complaint' | 'unsubscribe' | 'manual' | 'stop'
      scope: {
        type: 'all' | 'commercial' | 'workflow' | 'category'
        /** With `workflow` */
        workflowId?: string | undefined
        /** With `category` */
        category?: string | undefined
        /** Workflows of the category that are not held back */
        except?: Array<string> | undefined
      }
      source: 'header' | 'page' | 'mailto' | 'provider' | 'dsn' | 'feedback' | 'sms' | 'api' | 'import' | 'dashboard'
      subscriberId: string | null
      integrationId: string | null
      messageId: string | null
      note: string | null
      expiresAt: string | null
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve an entry */
  'GET /v1/suppressions/{suppressionId}': {
    path: {
      suppressionId: string
    }
    answer: {
      _id: string
      channel: 'email' | 'sms' | 'push' | 'chat'
      /** In the form in which it is compared; null once its subscriber was erased */
      address: string | null
      /** The SHA-256 of the address, in hex */
      addressHash: string
      reason: 'hard_bounce' | 'soft_bounces' | 'complaint' | 'unsubscribe' | 'manual' | 'stop'
      scope: {
        type: 'all' | 'commercial' | 'workflow' | 'category'
        /** With `workflow` */
        workflowId?: string | undefined
        /** With `category` */
        category?: string | undefined
        /** Workflows of the category that are not held back */
        except?: Array<string> | undefined
      }
      source: 'header' | 'page' | 'mailto' | 'provider' | 'dsn' | 'feedback' | 'sms' | 'api' | 'import' | 'dashboard'
      subscriberId: string | null
      integrationId: string | null
      messageId: string | null
      note: string | null
      expiresAt: string | null
      createdAt: string
      updatedAt: string
    }
  }
  /** Remove an entry: its address is written to again */
  'DELETE /v1/suppressions/{suppressionId}': {
    path: {
      suppressionId: string
    }
    query?: {
      /** Also where somebody has complained */
      force?: boolean | undefined
    }
    answer: undefined
  }
  /** Ask whether an address is held back */
  'POST /v1/suppressions/check': {
    body: {
      channel: 'email' | 'sms' | 'push' | 'chat'
      address: string
      workflowId?: string | undefined
    }
    answer: {
      suppressed: boolean
      entry: {
        _id: string
        channel: 'email' | 'sms' | 'push' | 'chat'
        /** In the form in which it is compared; null once its subscriber was erased */
        address: string | null
        /** The SHA-256 of the address, in hex */
        addressHash: string
        reason: 'hard_bounce' | 'soft_bounces' | 'complaint' | 'unsubscribe' | 'manual' | 'stop'
        scope: {
          type: 'all' | 'commercial' | 'workflow' | 'category'
          /** With `workflow` */
          workflowId?: string | undefined
          /** With `category` */
          category?: string | undefined
          /** Workflows of the category that are not held back */
          except?: Array<string> | undefined
        }
        source: 'header' | 'page' | 'mailto' | 'provider' | 'dsn' | 'feedback' | 'sms' | 'api' | 'import' | 'dashboard'
        subscriberId: string | null
        integrationId: string | null
        messageId: string | null
        note: string | null
        expiresAt: string | null
        createdAt: string
        updatedAt: string
      } | null
    }
  }
  /** Export the suppression list as CSV */
  'GET /v1/suppressions/export': {
    answer: undefined
  }
  /** Mark messages as read, unread, seen or unseen */
  'POST /v1/subscribers/{subscriberId}/messages/mark-as': {
    path: {
      subscriberId: string
    }
    body: {
      /** The id of a message, or a list of them */
      messageId: string | Array<string>
      markAs: 'read' | 'seen' | 'unread' | 'unseen'
    }
    answer: Array<{
      _id: string
      _templateId: string
      _environmentId: string
      _messageTemplateId: string
      _organizationId: string
      _notificationId: string
      _subscriberId: string
      _jobId: string
      createdAt: string
      updatedAt: string
      transactionId: string
      templateIdentifier: string
      stepId: string
      providerId?: string | undefined
      subject?: string | undefined
      avatar?: string | undefined
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      read: boolean
      seen: boolean
      archived: boolean
      snoozedUntil?: string | undefined
      deliveredAt?: Array<string> | undefined
      firstSeenDate?: string | undefined
      lastSeenDate?: string | undefined
      lastReadDate?: string | undefined
      archivedAt?: string | undefined
      deviceTokens?: Array<string> | undefined
      cta: Record<string, unknown>
      status: 'sent' | 'error' | 'warning'
      /** Left out of lists when larger than 32 KB */
      payload?: Record<string, unknown> | undefined
      /** Left out of lists when larger than 32 KB */
      overrides?: Record<string, unknown> | undefined
      data?: Record<string, unknown> | undefined
      tags: Array<string>
      severity: string
      contextKeys: Array<string>
      subscriber?: {
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      } | undefined
      actorSubscriber?: {
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      } | undefined
      /** The workflow as it is now; absent after its deletion */
      template?: {
        _id: string
        name: string
        description: string
        active: boolean
        draft: boolean
        critical: boolean
        preferenceSettings: {
          email: boolean
          sms: boolean
          in_app: boolean
          chat: boolean
          push: boolean
        }
        tags: Array<string>
        steps: Array<{
          _id: string
          name: string
          _templateId: string
          active: boolean
          shouldStopOnFail: boolean
          template: {
            type: string
          }
          replyCallback?: {
            active?: boolean | undefined
            url?: string | undefined
          } | undefined
        }>
        _organizationId: string
        _creatorId: string
        _environmentId: string
        _notificationGroupId: string
        triggers: Array<{
          type: 'event'
          identifier: string
          variables: Array<{
            name: string
          }>
        }>
        deleted: boolean
        deletedAt: string
        deletedBy: string
        notificationGroup: {
          _id: string
          name: string
          _environmentId: string
          _organizationId: string
        }
        data?: Record<string, unknown> | undefined
      } | undefined
      content?: string | undefined
      title?: string | undefined
      email?: string | undefined
      phone?: string | undefined
      directWebhookUrl?: string | undefined
      errorId?: string | undefined
      errorText?: string | undefined
    }>
  }
  /** Mark all in-app messages as read, unread, seen or unseen */
  'POST /v1/subscribers/{subscriberId}/messages/mark-all': {
    path: {
      subscriberId: string
    }
    body: {
      markAs: 'read' | 'seen' | 'unread' | 'unseen'
      feedIdentifier?: string | Array<string> | undefined
    }
    answer: number
  }
  /** Set the state of the buttons of a message */
  'POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{type}': {
    path: {
      subscriberId: string
      messageId: string
      type: string
    }
    body: {
      status: 'pending' | 'done'
      payload?: Record<string, unknown> | undefined
    }
    answer: {
      _id: string
      _templateId: string
      _environmentId: string
      _messageTemplateId: string
      _organizationId: string
      _notificationId: string
      _subscriberId: string
      _jobId: string
      createdAt: string
      updatedAt: string
      transactionId: string
      templateIdentifier: string
      stepId: string
      providerId?: string | undefined
      subject?: string | undefined
      avatar?: string | undefined
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      read: boolean
      seen: boolean
      archived: boolean
      snoozedUntil?: string | undefined
      deliveredAt?: Array<string> | undefined
      firstSeenDate?: string | undefined
      lastSeenDate?: string | undefined
      lastReadDate?: string | undefined
      archivedAt?: string | undefined
      deviceTokens?: Array<string> | undefined
      cta: Record<string, unknown>
      status: 'sent' | 'error' | 'warning'
      /** Left out of lists when larger than 32 KB */
      payload?: Record<string, unknown> | undefined
      /** Left out of lists when larger than 32 KB */
      overrides?: Record<string, unknown> | undefined
      data?: Record<string, unknown> | undefined
      tags: Array<string>
      severity: string
      contextKeys: Array<string>
      subscriber?: {
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      } | undefined
      actorSubscriber?: {
        _id: string
        _organizationId: string
        _environmentId: string
        subscriberId: string
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        channels: Array<{
          providerId: string
          _integrationId: string
          integrationIdentifier?: string | undefined
          credentials: {
            webhookUrl?: string | undefined
            channel?: string | undefined
            deviceTokens?: Array<string> | undefined
            alertUid?: string | undefined
            title?: string | undefined
            imageUrl?: string | undefined
            state?: string | undefined
            externalUrl?: string | undefined
          }
        }>
        topics?: Array<string> | undefined
        isOnline: boolean
        lastOnlineAt: string | null
        deleted: boolean
        createdAt: string
        updatedAt: string
      } | undefined
      /** The workflow as it is now; absent after its deletion */
      template?: {
        _id: string
        name: string
        description: string
        active: boolean
        draft: boolean
        critical: boolean
        preferenceSettings: {
          email: boolean
          sms: boolean
          in_app: boolean
          chat: boolean
          push: boolean
        }
        tags: Array<string>
        steps: Array<{
          _id: string
          name: string
          _templateId: string
          active: boolean
          shouldStopOnFail: boolean
          template: {
            type: string
          }
          replyCallback?: {
            active?: boolean | undefined
            url?: string | undefined
          } | undefined
        }>
        _organizationId: string
        _creatorId: string
        _environmentId: string
        _notificationGroupId: string
        triggers: Array<{
          type: 'event'
          identifier: string
          variables: Array<{
            name: string
          }>
        }>
        deleted: boolean
        deletedAt: string
        deletedBy: string
        notificationGroup: {
          _id: string
          name: string
          _environmentId: string
          _organizationId: string
        }
        data?: Record<string, unknown> | undefined
      } | undefined
      content?: string | undefined
      title?: string | undefined
      email?: string | undefined
      phone?: string | undefined
      directWebhookUrl?: string | undefined
      errorId?: string | undefined
      errorText?: string | undefined
    }
  }
  /** List in-app messages of a subscriber, newest first */
  'GET /v1/subscribers/{subscriberId}/notifications/feed': {
    path: {
      subscriberId: string
    }
    query?: {
      page?: number | undefined
      limit?: number | undefined
      read?: boolean | undefined
      seen?: boolean | undefined
      /** A JSON object in base64; matches messages whose trigger payload contains all of it */
      payload?: string | undefined
      feedIdentifier?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _templateId: string
        _environmentId: string
        _messageTemplateId: string
        _organizationId: string
        _notificationId: string
        _subscriberId: string
        _jobId: string
        createdAt: string
        updatedAt: string
        transactionId: string
        templateIdentifier: string
        stepId: string
        providerId?: string | undefined
        subject?: string | undefined
        avatar?: string | undefined
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        read: boolean
        seen: boolean
        archived: boolean
        snoozedUntil?: string | undefined
        deliveredAt?: Array<string> | undefined
        firstSeenDate?: string | undefined
        lastSeenDate?: string | undefined
        lastReadDate?: string | undefined
        archivedAt?: string | undefined
        deviceTokens?: Array<string> | undefined
        cta: Record<string, unknown>
        status: 'sent' | 'error' | 'warning'
        /** Left out of lists when larger than 32 KB */
        payload?: Record<string, unknown> | undefined
        /** Left out of lists when larger than 32 KB */
        overrides?: Record<string, unknown> | undefined
        data?: Record<string, unknown> | undefined
        tags: Array<string>
        severity: string
        contextKeys: Array<string>
        content: string
        subscriber?: {
          _id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        } | undefined
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Count unseen in-app messages */
  'GET /v1/subscribers/{subscriberId}/notifications/unseen': {
    path: {
      subscriberId: string
    }
    query?: {
      seen?: boolean | undefined
      /** The maximum count */
      limit?: number | undefined
      feedId?: Array<string> | undefined
    }
    answer: {
      count: number
    }
  }
  /** List a subscriber's notifications, newest first */
  'GET /v2/subscribers/{subscriberId}/notifications': {
    path: {
      subscriberId: string
    }
    query?: {
      limit?: number | undefined
      after?: string | undefined
      offset?: number | undefined
      read?: boolean | undefined
      archived?: boolean | undefined
      snoozed?: boolean | undefined
      seen?: boolean | undefined
      /** Any of these; as one JSON text also `{"or": [...]}` or `{"and": [{"or": [...]}, ...]}` */
      tags?: Array<string> | undefined
      /** A JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      /** In milliseconds since 1970; inclusive */
      createdGte?: number | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }>
      hasMore: boolean
      filter: Record<string, unknown>
    }
  }
  /** Count a subscriber's notifications for up to 30 filters */
  'GET /v2/subscribers/{subscriberId}/notifications/count': {
    path: {
      subscriberId: string
    }
    query?: {
      /** A JSON list of filters: `tags`, `read`, `archived`, `snoozed`, `seen`, `severity`, `data`, `contextKeys`. Each is counted up to 100 */
      filters?: string | undefined
    }
    answer: Array<{
      count: number
      filter: Record<string, unknown>
    }>
  }
  /** Mark a notification as read */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/read': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Mark a notification as unread, which also unarchives it */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unread': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Archive a notification */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/archive': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Unarchive a notification */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unarchive': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Snooze a notification */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    body: {
      snoozeUntil: string
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Unsnooze a notification */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unsnooze': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Mark the action of a button as completed */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/complete': {
    path: {
      subscriberId: string
      notificationId: string
      actionType: 'primary' | 'secondary'
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Mark the action of a button as pending again */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/revert': {
    path: {
      subscriberId: string
      notificationId: string
      actionType: 'primary' | 'secondary'
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      id: string
      transactionId: string
      subject?: string | undefined
      body: string
      to: {
        id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        avatar?: string | undefined
      }
      isRead: boolean
      isSeen: boolean
      isArchived: boolean
      isSnoozed: boolean
      snoozedUntil: string | null
      deliveredAt?: Array<string> | undefined
      createdAt: string
      readAt: string | null
      firstSeenAt: string | null
      archivedAt: string | null
      avatar?: string | undefined
      primaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      secondaryAction?: {
        label: string
        isCompleted: boolean
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
      } | undefined
      channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      tags: Array<string>
      data?: Record<string, unknown> | undefined
      redirect?: {
        url: string
        target?: string | undefined
      } | undefined
      workflow: {
        id: string
        identifier: string
        name: string
        critical: boolean
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
      }
      severity: 'high' | 'medium' | 'low' | 'none'
    }
  }
  /** Delete a notification */
  'DELETE /v2/subscribers/{subscriberId}/notifications/{notificationId}': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Mark notifications as seen: the named ones, or else all that match */
  'POST /v2/subscribers/{subscriberId}/notifications/seen': {
    path: {
      subscriberId: string
    }
    body: {
      /** Only these, ignoring other filters */
      notificationIds?: Array<string> | undefined
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** At least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Mark all matching notifications as read */
  'POST /v2/subscribers/{subscriberId}/notifications/read': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** At least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Archive all matching notifications */
  'POST /v2/subscribers/{subscriberId}/notifications/archive': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** At least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Archive all matching read notifications */
  'POST /v2/subscribers/{subscriberId}/notifications/read-archive': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** At least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Delete all matching notifications */
  'POST /v2/subscribers/{subscriberId}/notifications/delete': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** At least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Start a session for a subscriber, who is created if missing */
  'POST /v1/inbox/session': {
    body: {
      applicationIdentifier?: string | undefined
      subscriber?: string | {
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        phone?: string | null | undefined
        avatar?: string | null | undefined
        locale?: string | null | undefined
        timezone?: string | null | undefined
        data?: Record<string, unknown> | null | undefined
        subscriberId?: string | undefined
      } | undefined
      subscriberId?: string | undefined
      subscriberHash?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** The schedule of the subscriber, until it sets another */
      defaultSchedule?: unknown | undefined
    }
    answer: {
      data: {
        token: string
        totalUnreadCount: number
        unreadCount: {
          total: number
          severity: {
            high: number
            medium: number
            low: number
            none: number
          }
        }
        removeSvcBranding: boolean
        removeNovuBranding: boolean
        isDevelopmentMode: boolean
        maxSnoozeDurationHours: number
        applicationIdentifier: string
        contextKeys: Array<string>
        schedule?: Record<string, unknown> | undefined
      }
    }
  }
  /** List notifications, newest first */
  'GET /v1/inbox/notifications': {
    query?: {
      limit?: number | undefined
      after?: string | undefined
      offset?: number | undefined
      read?: boolean | undefined
      archived?: boolean | undefined
      snoozed?: boolean | undefined
      seen?: boolean | undefined
      /** Any of these; as one JSON text also `{"or": [...]}` or `{"and": [{"or": [...]}, ...]}` */
      tags?: Array<string> | undefined
      /** A JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      /** In milliseconds since 1970; inclusive */
      createdGte?: number | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: {
      data: Array<{
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }>
      hasMore: boolean
      filter: Record<string, unknown>
    }
  }
  /** Count notifications for up to 30 filters */
  'GET /v1/inbox/notifications/count': {
    query?: {
      /** A JSON list of filters: `tags`, `read`, `archived`, `snoozed`, `seen`, `severity`, `data`, `contextKeys`. Each is counted up to 100 */
      filters?: string | undefined
    }
    answer: {
      data: Array<{
        count: number
        filter: Record<string, unknown>
      }>
    }
  }
  /** Mark a notification as read */
  'PATCH /v1/inbox/notifications/{notificationId}/read': {
    path: {
      notificationId: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Mark a notification as unread, which also unarchives it */
  'PATCH /v1/inbox/notifications/{notificationId}/unread': {
    path: {
      notificationId: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Archive a notification */
  'PATCH /v1/inbox/notifications/{notificationId}/archive': {
    path: {
      notificationId: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Unarchive a notification */
  'PATCH /v1/inbox/notifications/{notificationId}/unarchive': {
    path: {
      notificationId: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Snooze a notification */
  'PATCH /v1/inbox/notifications/{notificationId}/snooze': {
    path: {
      notificationId: string
    }
    body: {
      snoozeUntil: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Unsnooze a notification */
  'PATCH /v1/inbox/notifications/{notificationId}/unsnooze': {
    path: {
      notificationId: string
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Mark the action of a button as completed */
  'PATCH /v1/inbox/notifications/{notificationId}/complete': {
    path: {
      notificationId: string
    }
    body: {
      actionType: 'primary' | 'secondary'
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Mark the action of a button as pending again */
  'PATCH /v1/inbox/notifications/{notificationId}/revert': {
    path: {
      notificationId: string
    }
    body: {
      actionType: 'primary' | 'secondary'
    }
    answer: {
      data: {
        id: string
        transactionId: string
        subject?: string | undefined
        body: string
        to: {
          id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          avatar?: string | undefined
        }
        isRead: boolean
        isSeen: boolean
        isArchived: boolean
        isSnoozed: boolean
        snoozedUntil: string | null
        deliveredAt?: Array<string> | undefined
        createdAt: string
        readAt: string | null
        firstSeenAt: string | null
        archivedAt: string | null
        avatar?: string | undefined
        primaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        secondaryAction?: {
          label: string
          isCompleted: boolean
          redirect?: {
            url: string
            target?: string | undefined
          } | undefined
        } | undefined
        channelType: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        tags: Array<string>
        data?: Record<string, unknown> | undefined
        redirect?: {
          url: string
          target?: string | undefined
        } | undefined
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: 'high' | 'medium' | 'low' | 'none'
        }
        severity: 'high' | 'medium' | 'low' | 'none'
      }
    }
  }
  /** Delete a notification */
  'DELETE /v1/inbox/notifications/{notificationId}/delete': {
    path: {
      notificationId: string
    }
    answer: undefined
  }
  /** Mark notifications as seen: the named ones, or else all that match */
  'POST /v1/inbox/notifications/seen': {
    body: {
      /** Only these, ignoring other filters */
      notificationIds?: Array<string> | undefined
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Mark all matching notifications as read */
  'POST /v1/inbox/notifications/read': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Archive all matching notifications */
  'POST /v1/inbox/notifications/archive': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Archive all matching read notifications */
  'POST /v1/inbox/notifications/read-archive': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Delete all matching notifications */
  'POST /v1/inbox/notifications/delete': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object; matches notifications whose data contains all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** List preferences: the global ones, then those of each workflow */
  'GET /v1/inbox/preferences': {
    query?: {
      criticality?: 'critical' | 'nonCritical' | 'all' | undefined
      tags?: Array<string> | undefined
      'tags[]'?: Array<string> | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
    }
    answer: {
      data: Array<{
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }>
    }
  }
  /** Change the global preferences, the schedule, or the pause from commercial messages */
  'PATCH /v1/inbox/preferences': {
    body: {
      email?: boolean | undefined
      sms?: boolean | undefined
      in_app?: boolean | undefined
      chat?: boolean | undefined
      push?: boolean | undefined
      schedule?: {
        isEnabled: boolean
        weeklySchedule?: {
          monday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          tuesday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          wednesday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          thursday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          friday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          saturday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
          sunday?: {
            isEnabled: boolean
            hours?: Array<{
              start: string
              end: string
            }> | undefined
          } | undefined
        } | undefined
      } | undefined
      /** Pauses commercial messages until then, up to 365 days; null ends the pause */
      snoozedUntil?: string | null | undefined
    }
    answer: {
      data: {
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }
    }
  }
  /** Retrieve the global preferences */
  'GET /v1/inbox/preferences/global': {
    answer: {
      data: {
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }
    }
  }
  /** Change the preferences for up to 100 workflows, all or none */
  'PATCH /v1/inbox/preferences/bulk': {
    body: {
      preferences: Array<{
        workflowId: string
        subscriptionIdentifier?: string | undefined
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
        enabled?: boolean | undefined
        /** JSON Logic over the payload; replaces `enabled` */
        condition?: Record<string, unknown> | null | undefined
      }>
    }
    answer: {
      data: Array<{
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }>
    }
  }
  /** Change the preferences for a workflow */
  'PATCH /v1/inbox/preferences/{workflowIdOrIdentifier}': {
    path: {
      workflowIdOrIdentifier: string
    }
    body: {
      email?: boolean | undefined
      sms?: boolean | undefined
      in_app?: boolean | undefined
      chat?: boolean | undefined
      push?: boolean | undefined
    }
    answer: {
      data: {
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }
    }
  }
  /** Change whether a workflow reaches the subscriber through a topic subscription */
  'PATCH /v1/inbox/subscriptions/{identifier}/preferences/{workflowIdOrIdentifier}': {
    path: {
      identifier: string
      workflowIdOrIdentifier: string
    }
    body: {
      email?: boolean | undefined
      sms?: boolean | undefined
      in_app?: boolean | undefined
      chat?: boolean | undefined
      push?: boolean | undefined
      enabled?: boolean | undefined
      /** JSON Logic over the payload; replaces `enabled` */
      condition?: Record<string, unknown> | null | undefined
    }
    answer: {
      data: {
        level: 'global' | 'template'
        enabled: boolean
        channels: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        schedule?: Record<string, unknown> | undefined
        /** Until then, commercial email, SMS, chat and push messages are left out; absent without a pause */
        snoozedUntil?: string | undefined
        condition?: Record<string, unknown> | undefined
        /** The identifier of the topic subscription it is for */
        subscriptionId?: string | undefined
        workflow?: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        } | undefined
      }
    }
  }
  /** Retrieve the key that a browser needs to register for push messages */
  'GET /v1/inbox/push/key': {
    answer: {
      data: {
        publicKey: string
        integrationIdentifier: string
      }
    }
  }
  /** Register a browser for push messages */
  'POST /v1/inbox/push/subscriptions': {
    body: {
      endpoint?: unknown | undefined
      expirationTime?: unknown | undefined
      keys?: unknown | undefined
      label?: string | undefined
    }
    answer: {
      data: {
        id: string
        /** Of the push service; the whole endpoint is a secret */
        origin: string
        label: string | null
        createdAt: string
      }
    }
  }
  /** List the browsers that are registered */
  'GET /v1/inbox/push/subscriptions': {
    answer: {
      data: Array<{
        id: string
        /** Of the push service; the whole endpoint is a secret */
        origin: string
        label: string | null
        createdAt: string
      }>
    }
  }
  /** Remove a browser */
  'DELETE /v1/inbox/push/subscriptions/{pushSubscriptionId}': {
    path: {
      pushSubscriptionId: string
    }
    answer: undefined
  }
  /** List the browsers that a subscriber has registered for push messages */
  'GET /v2/subscribers/{subscriberId}/push-subscriptions': {
    path: {
      subscriberId: string
    }
    answer: {
      data: Array<{
        id: string
        /** Of the push service; the whole endpoint is a secret */
        origin: string
        label: string | null
        createdAt: string
      }>
    }
  }
  /** Remove a browser of a subscriber */
  'DELETE /v2/subscribers/{subscriberId}/push-subscriptions/{pushSubscriptionId}': {
    path: {
      subscriberId: string
      pushSubscriptionId: string
    }
    answer: undefined
  }
  /** Retrieve the subscriber's time zone */
  'GET /v1/inbox/subscriber': {
    answer: {
      data: {
        subscriberId: string
        /** Absent if not set; then UTC applies */
        timezone?: string | undefined
      }
    }
  }
  /** Change the subscriber's time zone */
  'PATCH /v1/inbox/subscriber': {
    body: {
      timezone: string
    }
    answer: {
      data: {
        subscriberId: string
        /** Absent if not set; then UTC applies */
        timezone?: string | undefined
      }
    }
  }
  /** List the subscriber's subscriptions to a topic */
  'GET /v1/inbox/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    answer: {
      data: Array<{
        id: string
        identifier: string
        name?: string | undefined
        preferences: Array<{
          /** The subscription's identifier */
          subscriptionId: string
          workflow: {
            id: string
            identifier: string
            name: string
            critical: boolean
            tags: Array<string>
            data?: Record<string, unknown> | undefined
            severity: string
          }
          enabled: boolean
          condition?: Record<string, unknown> | undefined
        }>
        contextKeys: Array<string>
      }>
    }
  }
  /** Subscribe to a topic that browsers may join */
  'POST /v1/inbox/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    body: {
      /** Default: generated */
      identifier?: string | undefined
      name?: string | undefined
      topic?: {
        name?: string | undefined
      } | undefined
      preferences?: Array<string | {
        /** Its identifier or its id */
        workflowId?: string | undefined
        /** Every workflow with one of these ids or tags */
        filter?: {
          workflowIds?: Array<string> | undefined
          tags?: Array<string> | undefined
        } | undefined
        /** The workflow's default when absent */
        enabled?: boolean | undefined
        /** JSON Logic over the payload; replaces `enabled` */
        condition?: Record<string, unknown> | null | undefined
      }> | undefined
    }
    answer: {
      data: {
        id: string
        identifier: string
        name?: string | undefined
        preferences: Array<{
          /** The subscription's identifier */
          subscriptionId: string
          workflow: {
            id: string
            identifier: string
            name: string
            critical: boolean
            tags: Array<string>
            data?: Record<string, unknown> | undefined
            severity: string
          }
          enabled: boolean
          condition?: Record<string, unknown> | undefined
        }>
        contextKeys: Array<string>
      }
    }
  }
  /** Retrieve one of the subscriber's subscriptions; empty if there is none */
  'GET /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': {
    path: {
      topicKey: string
      identifier: string
    }
    query?: {
      /** Workflows to show even if nothing is stored for them */
      workflowIds?: Array<string> | undefined
      tags?: Array<string> | undefined
    }
    answer: {
      data: {
        id: string
        identifier: string
        name?: string | undefined
        preferences: Array<{
          /** The subscription's identifier */
          subscriptionId: string
          workflow: {
            id: string
            identifier: string
            name: string
            critical: boolean
            tags: Array<string>
            data?: Record<string, unknown> | undefined
            severity: string
          }
          enabled: boolean
          condition?: Record<string, unknown> | undefined
        }>
        contextKeys: Array<string>
      }
    } | undefined
  }
  /** Change the name of a subscription, or replace its preferences */
  'PATCH /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': {
    path: {
      topicKey: string
      identifier: string
    }
    body: {
      name?: string | undefined
      preferences?: Array<string | {
        /** Its identifier or its id */
        workflowId?: string | undefined
        /** Every workflow with one of these ids or tags */
        filter?: {
          workflowIds?: Array<string> | undefined
          tags?: Array<string> | undefined
        } | undefined
        /** The workflow's default when absent */
        enabled?: boolean | undefined
        /** JSON Logic over the payload; replaces `enabled` */
        condition?: Record<string, unknown> | null | undefined
      }> | undefined
    }
    answer: {
      data: {
        id: string
        identifier: string
        name?: string | undefined
        preferences: Array<{
          /** The subscription's identifier */
          subscriptionId: string
          workflow: {
            id: string
            identifier: string
            name: string
            critical: boolean
            tags: Array<string>
            data?: Record<string, unknown> | undefined
            severity: string
          }
          enabled: boolean
          condition?: Record<string, unknown> | undefined
        }>
        contextKeys: Array<string>
      }
    }
  }
  /** Unsubscribe */
  'DELETE /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': {
    path: {
      topicKey: string
      identifier: string
    }
    answer: {
      data: {
        success: boolean
      }
    }
  }
  /** List connected chat workspaces */
  'GET /v1/inbox/channel-connections': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      integrationIdentifier?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | 'web-push' | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
    }
    answer: {
      data: Array<{
        identifier: string
        workspace: {
          id: string
          name?: string | undefined
        }
        createdAt: string
      }>
      next: string | null
      previous: string | null
    }
  }
  /** Retrieve a connected chat workspace */
  'GET /v1/inbox/channel-connections/{identifier}': {
    path: {
      identifier: string
    }
    query?: {
      connectionMode?: 'subscriber' | 'shared' | undefined
    }
    answer: {
      identifier: string
      workspace: {
        id: string
        name?: string | undefined
      }
      createdAt: string
      data: {
        identifier: string
        workspace: {
          id: string
          name?: string | undefined
        }
        createdAt: string
      }
    }
  }
  /** Disconnect a chat workspace */
  'DELETE /v1/inbox/channel-connections/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** Create a URL that connects a workspace */
  'POST /v1/inbox/channel-connections/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: the bot scopes; default: a sensible set */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also create an endpoint for the person who signs in */
      autoLinkUser?: boolean | undefined
    }
    answer: {
      data: {
        url: string
      }
    }
  }
  /** Create a URL that links a chat identity */
  'POST /v1/inbox/channel-endpoints/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: the user scopes; default: `identity.basic` */
      userScope?: Array<string> | undefined
    }
    answer: {
      data: {
        url: string
      }
    }
  }
  /** Create a URL for either */
  'POST /v1/inbox/chat/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: the bot scopes; default: a sensible set */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also create an endpoint for the person who signs in */
      autoLinkUser?: boolean | undefined
      /** Slack: the user scopes; default: `identity.basic` */
      userScope?: Array<string> | undefined
      mode?: 'connect' | 'link_user' | undefined
    }
    answer: {
      data: {
        url: string
      }
    }
  }
  /** List the chat identities of the subscriber */
  'GET /v1/inbox/channel-endpoints': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      integrationIdentifier?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | 'web-push' | undefined
      connectionIdentifier?: string | undefined
    }
    answer: {
      data: Array<{
        identifier: string
        type: string
      }>
      next: string | null
      previous: string | null
    }
  }
  /** Retrieve a chat identity of the subscriber */
  'GET /v1/inbox/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    answer: {
      data: {
        identifier: string
        type: string
      }
    }
  }
  /** Delete a chat identity */
  'DELETE /v1/inbox/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** List messages of all channels, newest first */
  'GET /v1/messages': {
    query?: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      subscriberId?: string | undefined
      transactionId?: Array<string> | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
      page?: number | undefined
      /** At most 1000 */
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _templateId: string
        _environmentId: string
        _messageTemplateId: string
        _organizationId: string
        _notificationId: string
        _subscriberId: string
        _jobId: string
        createdAt: string
        updatedAt: string
        transactionId: string
        templateIdentifier: string
        stepId: string
        providerId?: string | undefined
        subject?: string | undefined
        avatar?: string | undefined
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        read: boolean
        seen: boolean
        archived: boolean
        snoozedUntil?: string | undefined
        deliveredAt?: Array<string> | undefined
        firstSeenDate?: string | undefined
        lastSeenDate?: string | undefined
        lastReadDate?: string | undefined
        archivedAt?: string | undefined
        deviceTokens?: Array<string> | undefined
        cta: Record<string, unknown>
        status: 'sent' | 'error' | 'warning'
        /** Left out of lists when larger than 32 KB */
        payload?: Record<string, unknown> | undefined
        /** Left out of lists when larger than 32 KB */
        overrides?: Record<string, unknown> | undefined
        data?: Record<string, unknown> | undefined
        tags: Array<string>
        severity: string
        contextKeys: Array<string>
        subscriber?: {
          _id: string
          _organizationId: string
          _environmentId: string
          subscriberId: string
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          phone?: string | null | undefined
          avatar?: string | null | undefined
          locale?: string | null | undefined
          timezone?: string | null | undefined
          data?: Record<string, unknown> | null | undefined
          channels: Array<{
            providerId: string
            _integrationId: string
            integrationIdentifier?: string | undefined
            credentials: {
              webhookUrl?: string | undefined
              channel?: string | undefined
              deviceTokens?: Array<string> | undefined
              alertUid?: string | undefined
              title?: string | undefined
              imageUrl?: string | undefined
              state?: string | undefined
              externalUrl?: string | undefined
            }
          }>
          topics?: Array<string> | undefined
          isOnline: boolean
          lastOnlineAt: string | null
          deleted: boolean
          createdAt: string
          updatedAt: string
        } | undefined
        actorSubscriber?: {
          _id: string
          _organizationId: string
          _environmentId: string
          subscriberId: string
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          phone?: string | null | undefined
          avatar?: string | null | undefined
          locale?: string | null | undefined
          timezone?: string | null | undefined
          data?: Record<string, unknown> | null | undefined
          channels: Array<{
            providerId: string
            _integrationId: string
            integrationIdentifier?: string | undefined
            credentials: {
              webhookUrl?: string | undefined
              channel?: string | undefined
              deviceTokens?: Array<string> | undefined
              alertUid?: string | undefined
              title?: string | undefined
              imageUrl?: string | undefined
              state?: string | undefined
              externalUrl?: string | undefined
            }
          }>
          topics?: Array<string> | undefined
          isOnline: boolean
          lastOnlineAt: string | null
          deleted: boolean
          createdAt: string
          updatedAt: string
        } | undefined
        /** The workflow as it is now; absent after its deletion */
        template?: {
          _id: string
          name: string
          description: string
          active: boolean
          draft: boolean
          critical: boolean
          preferenceSettings: {
            email: boolean
            sms: boolean
            in_app: boolean
            chat: boolean
            push: boolean
          }
          tags: Array<string>
          steps: Array<{
            _id: string
            name: string
            _templateId: string
            active: boolean
            shouldStopOnFail: boolean
            template: {
              type: string
            }
            replyCallback?: {
              active?: boolean | undefined
              url?: string | undefined
            } | undefined
          }>
          _organizationId: string
          _creatorId: string
          _environmentId: string
          _notificationGroupId: string
          triggers: Array<{
            type: 'event'
            identifier: string
            variables: Array<{
              name: string
            }>
          }>
          deleted: boolean
          deletedAt: string
          deletedBy: string
          notificationGroup: {
            _id: string
            name: string
            _environmentId: string
            _organizationId: string
          }
          data?: Record<string, unknown> | undefined
        } | undefined
        content?: string | undefined
        title?: string | undefined
        email?: string | undefined
        phone?: string | undefined
        directWebhookUrl?: string | undefined
        errorId?: string | undefined
        errorText?: string | undefined
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Delete a message */
  'DELETE /v1/messages/{messageId}': {
    path: {
      messageId: string
    }
    answer: {
      acknowledged: boolean
      status: string
    }
  }
  /** Delete the messages of a transaction */
  'DELETE /v1/messages/transaction/{transactionId}': {
    path: {
      transactionId: string
    }
    query?: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
    }
    answer: undefined
  }
  /** List the activity, one record for each trigger and subscriber, newest first */
  'GET /v1/notifications': {
    query?: {
      channels?: Array<string> | undefined
      /** Internal ids of workflows */
      templates?: Array<string> | undefined
      /** Identifiers of workflows */
      workflowIds?: Array<string> | undefined
      emails?: Array<string> | undefined
      /** Part of the email address of the subscriber, or its id. Matches of this, `emails` and `subscriberIds` are combined */
      search?: string | undefined
      subscriberIds?: Array<string> | undefined
      status?: Array<'processing' | 'completed' | 'error'> | undefined
      /** Runs with a step that did not complete normally, for one of these reasons, such as `provider_failed` */
      reasons?: Array<string> | undefined
      /** Runs with a step that was held until the schedule of its subscriber opened */
      held?: boolean | undefined
      /** With `reasons` or `held`: the step ended so, or was held, then or later. ISO 8601 */
      stepsAfter?: string | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      transactionId?: Array<string> | undefined
      /** Runs that a step of this run has started */
      startedBy?: string | undefined
      topicKey?: string | undefined
      /** The identifier of a topic subscription */
      subscriptionId?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
      /** ISO 8601; inclusive */
      after?: string | undefined
      /** ISO 8601; inclusive */
      before?: string | undefined
      page?: number | undefined
      limit?: number | undefined
      /** The `_id` of a record: lists those below it. Faster than `page` in long lists */
      cursor?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _environmentId: string
        _organizationId: string
        _subscriberId: string
        _templateId: string
        _digestedNotificationId?: string | undefined
        /** The version of the workflow that the run began with */
        workflowVersion: number
        transactionId: string
        status: 'processing' | 'completed' | 'error'
        /** The furthest delivery state over all channels, and what stopped it */
        deliveryLifecycle: {
          status: 'pending' | 'sent' | 'delivered' | 'interacted' | 'skipped' | 'canceled' | 'merged' | 'errored'
          detail?: string | undefined
        }
        channels: Array<string>
        subscriber?: {
          _id: string
          subscriberId: string
          firstName?: string | undefined
          lastName?: string | undefined
          email?: string | undefined
          phone?: string | undefined
        } | undefined
        template?: {
          _id: string
          name: string
          origin: string
          triggers: Array<{
            type: 'event'
            identifier: string
            variables: Array<{
              name: string
            }>
          }>
        } | undefined
        jobs: Array<{
          _id: string
          type: string
          /** Of a kind such as `branch` */
          kind?: string | undefined
          /** Of such a kind what later steps read, and of a branch also `arms`: `{name, held, read}`, where `held` is null if it was not asked any more, and `read` has what its condition read; of a wait under way also `keys`, one for each entry as this run has it; of an `ask` its `questionId` from the beginning */
          outcome?: Record<string, unknown> | undefined
          /** The arms that lead to it, outermost first; absent at the top level */
          path?: Array<{
            stepId: string
            arm: string
          }> | undefined
          /** Of a copy of a question: the step that asks */
          of?: string | undefined
          /** Of a copy of a question: the subscriber who is asked */
          asked?: string | undefined
          /** Of a copy of a question: the level of the chain, from 0 */
          level?: number | undefined
          status: string
          /** Why it did not complete normally, such as `preference` or `missing_email` */
          reason?: string | undefined
          error?: string | undefined
          providerId: string
          digest?: Record<string, unknown> | undefined
          executionDetails: Array<{
            _id: string
            createdAt: string
            status: 'Success' | 'Warning' | 'Failed' | 'Pending' | 'Queued' | 'ReadConfirmation'
            detail: string
            isRetry: boolean
            isTest: boolean
            providerId?: string | undefined
            raw?: string | undefined
            source: 'Credentials' | 'Internal' | 'Payload' | 'Webhook'
            /** What the provider reported, such as `bounced` */
            webhookStatus?: string | undefined
          }>
          /** The messages of the step. Their content and recipients are in the single record */
          messages: Array<{
            _id: string
            channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
            status: 'sent' | 'error' | 'warning'
            providerId?: string | undefined
            errorId?: string | undefined
            errorText?: string | undefined
            /** The address or number it went to */
            recipient?: string | undefined
            subject?: string | undefined
            content?: string | undefined
            avatar?: string | undefined
            cta?: Record<string, unknown> | undefined
            data?: Record<string, unknown> | undefined
            providerMessageId?: string | undefined
            integrationId?: string | undefined
            createdAt?: string | undefined
            updatedAt?: string | undefined
          }>
          step: {
            _id: string
            _templateId: string
            _parentId?: string | null | undefined
            stepId: string
            name?: string | undefined
            active: boolean
            filters: Array<{
              isNegated: boolean
              type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
              value: 'AND' | 'OR'
              children: Array<{
                field?: string | undefined
                value?: unknown | undefined
                operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
                on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
                webhookUrl?: string | undefined
                timeOperator?: 'minutes' | 'hours' | 'days' | undefined
                step?: string | undefined
                stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
              }>
            }>
            controlVariables?: Record<string, unknown> | undefined
          }
          payload?: Record<string, unknown> | undefined
          overrides?: Record<string, unknown> | undefined
          scheduleExtensionsCount: number
          /** How many events a digest has collected that still waits. Only in the single record */
          collectedEvents?: number | undefined
          /** When a waiting step continues */
          dueAt?: string | undefined
          /** When the schedule opens that the step is held by */
          heldUntil?: string | undefined
          createdAt: string
          updatedAt: string
        }>
        payload?: Record<string, unknown> | undefined
        overrides?: Record<string, unknown> | undefined
        to?: Record<string, unknown> | undefined
        tags: Array<string>
        topics?: Array<{
          _topicId: string
          topicKey: string
        }> | undefined
        severity: 'high' | 'medium' | 'low' | 'none'
        critical: boolean
        contextKeys: Array<string>
        /** The step of another run that started this one */
        startedBy?: {
          notificationId: string
          transactionId: string
          workflowId: string
          stepId: string
          depth: number
        } | undefined
        /** The goal that was met, which ended the run; `event` is null for a condition */
        goal?: {
          name: string
          event: Record<string, unknown> | null
          createdAt: string
        } | undefined
        /** When the trigger was accepted; the run began at `createdAt` */
        triggeredAt?: string | undefined
        createdAt: string
        updatedAt: string
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Count the records above a record, or since a time */
  'GET /v1/notifications/count': {
    query: {
      /** The `_id` of the newest record you know, or an ISO 8601 time */
      since: string
      channels?: Array<string> | undefined
      /** Internal ids of workflows */
      templates?: Array<string> | undefined
      /** Identifiers of workflows */
      workflowIds?: Array<string> | undefined
      emails?: Array<string> | undefined
      /** Part of the email address of the subscriber, or its id. Matches of this, `emails` and `subscriberIds` are combined */
      search?: string | undefined
      subscriberIds?: Array<string> | undefined
      status?: Array<'processing' | 'completed' | 'error'> | undefined
      /** Runs with a step that did not complete normally, for one of these reasons, such as `provider_failed` */
      reasons?: Array<string> | undefined
      /** Runs with a step that was held until the schedule of its subscriber opened */
      held?: boolean | undefined
      /** With `reasons` or `held`: the step ended so, or was held, then or later. ISO 8601 */
      stepsAfter?: string | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      transactionId?: Array<string> | undefined
      /** Runs that a step of this run has started */
      startedBy?: string | undefined
      topicKey?: string | undefined
      /** The identifier of a topic subscription */
      subscriptionId?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
      /** ISO 8601; inclusive */
      after?: string | undefined
      /** ISO 8601; inclusive */
      before?: string | undefined
    }
    answer: {
      /** At most 100 */
      count: number
      /** Whether there are more */
      isCapped: boolean
    }
  }
  /** Retrieve an activity record */
  'GET /v1/notifications/{notificationId}': {
    path: {
      notificationId: string
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _subscriberId: string
      _templateId: string
      _digestedNotificationId?: string | undefined
      /** The version of the workflow that the run began with */
      workflowVersion: number
      transactionId: string
      status: 'processing' | 'completed' | 'error'
      /** The furthest delivery state over all channels, and what stopped it */
      deliveryLifecycle: {
        status: 'pending' | 'sent' | 'delivered' | 'interacted' | 'skipped' | 'canceled' | 'merged' | 'errored'
        detail?: string | undefined
      }
      channels: Array<string>
      subscriber?: {
        _id: string
        subscriberId: string
        firstName?: string | undefined
        lastName?: string | undefined
        email?: string | undefined
        phone?: string | undefined
      } | undefined
      template?: {
        _id: string
        name: string
        origin: string
        triggers: Array<{
          type: 'event'
          identifier: string
          variables: Array<{
            name: string
          }>
        }>
      } | undefined
      jobs: Array<{
        _id: string
        type: string
        /** Of a kind such as `branch` */
        kind?: string | undefined
        /** Of such a kind what later steps read, and of a branch also `arms`: `{name, held, read}`, where `held` is null if it was not asked any more, and `read` has what its condition read; of a wait under way also `keys`, one for each entry as this run has it; of an `ask` its `questionId` from the beginning */
        outcome?: Record<string, unknown> | undefined
        /** The arms that lead to it, outermost first; absent at the top level */
        path?: Array<{
          stepId: string
          arm: string
        }> | undefined
        /** Of a copy of a question: the step that asks */
        of?: string | undefined
        /** Of a copy of a question: the subscriber who is asked */
        asked?: string | undefined
        /** Of a copy of a question: the level of the chain, from 0 */
        level?: number | undefined
        status: string
        /** Why it did not complete normally, such as `preference` or `missing_email` */
        reason?: string | undefined
        error?: string | undefined
        providerId: string
        digest?: Record<string, unknown> | undefined
        executionDetails: Array<{
          _id: string
          createdAt: string
          status: 'Success' | 'Warning' | 'Failed' | 'Pending' | 'Queued' | 'ReadConfirmation'
          detail: string
          isRetry: boolean
          isTest: boolean
          providerId?: string | undefined
          raw?: string | undefined
          source: 'Credentials' | 'Internal' | 'Payload' | 'Webhook'
          /** What the provider reported, such as `bounced` */
          webhookStatus?: string | undefined
        }>
        /** The messages of the step. Their content and recipients are in the single record */
        messages: Array<{
          _id: string
          channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
          status: 'sent' | 'error' | 'warning'
          providerId?: string | undefined
          errorId?: string | undefined
          errorText?: string | undefined
          /** The address or number it went to */
          recipient?: string | undefined
          subject?: string | undefined
          content?: string | undefined
          avatar?: string | undefined
          cta?: Record<string, unknown> | undefined
          data?: Record<string, unknown> | undefined
          providerMessageId?: string | undefined
          integrationId?: string | undefined
          createdAt?: string | undefined
          updatedAt?: string | undefined
        }>
        step: {
          _id: string
          _templateId: string
          _parentId?: string | null | undefined
          stepId: string
          name?: string | undefined
          active: boolean
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlVariables?: Record<string, unknown> | undefined
        }
        payload?: Record<string, unknown> | undefined
        overrides?: Record<string, unknown> | undefined
        scheduleExtensionsCount: number
        /** How many events a digest has collected that still waits. Only in the single record */
        collectedEvents?: number | undefined
        /** When a waiting step continues */
        dueAt?: string | undefined
        /** When the schedule opens that the step is held by */
        heldUntil?: string | undefined
        createdAt: string
        updatedAt: string
      }>
      payload?: Record<string, unknown> | undefined
      overrides?: Record<string, unknown> | undefined
      to?: Record<string, unknown> | undefined
      tags: Array<string>
      topics?: Array<{
        _topicId: string
        topicKey: string
      }> | undefined
      severity: 'high' | 'medium' | 'low' | 'none'
      critical: boolean
      contextKeys: Array<string>
      /** The step of another run that started this one */
      startedBy?: {
        notificationId: string
        transactionId: string
        workflowId: string
        stepId: string
        depth: number
      } | undefined
      /** The goal that was met, which ended the run; `event` is null for a condition */
      goal?: {
        name: string
        event: Record<string, unknown> | null
        createdAt: string
      } | undefined
      /** When the trigger was accepted; the run began at `createdAt` */
      triggeredAt?: string | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** End the wait of this run */
  'POST /v1/notifications/{notificationId}/end-wait': {
    path: {
      notificationId: string
    }
    answer: {
      /** The step that waited */
      stepId: string
    }
  }
  /** Trigger the workflow of this record again, for the same subscriber */
  'POST /v1/notifications/{notificationId}/replay': {
    path: {
      notificationId: string
    }
    answer: {
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The dashboard page with its activity */
      activityFeedLink?: string | undefined
    }
  }
  /** Count runs, failures, messages and latency over time */
  'GET /v1/activity/charts': {
    query?: {
      /** ISO 8601; default: a day before the end */
      after?: string | undefined
      /** ISO 8601; default: now */
      before?: string | undefined
      /** Seconds; by default chosen to match the time range. Intervals begin at multiples of it, in UTC */
      interval?: 60 | 600 | 1800 | 3600 | 10800 | 21600 | 86400 | undefined
      /** Identifiers of workflows */
      workflowIds?: Array<string> | undefined
    }
    answer: {
      after: string
      before: string
      /** Seconds */
      interval: number
      /** Every interval, also empty ones */
      buckets: Array<{
        at: string
        /** Runs started */
        runs: number
        /** Of these, runs that have failed since */
        failed: number
        /** Messages created */
        messages: {
          in_app: number
          email: number
          sms: number
          chat: number
          push: number
        }
        /** From trigger to message, for runs without delay or digest; accurate to 6 % */
        latency?: {
          p50Ms: number
          p95Ms: number
        } | undefined
      }>
      totals: {
        /** Runs started */
        runs: number
        /** Of these, runs that have failed since */
        failed: number
        /** Messages created */
        messages: {
          in_app: number
          email: number
          sms: number
          chat: number
          push: number
        }
        /** From trigger to message, for runs without delay or digest; accurate to 6 % */
        latency?: {
          p50Ms: number
          p95Ms: number
        } | undefined
      }
    }
  }
  /** List integrations */
  'GET /v1/integrations': {
    answer: Array<{
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }>
  }
  /** Create an integration */
  'POST /v1/integrations': {
    body: {
      name?: string | undefined
      identifier?: string | undefined
      _environmentId?: string | undefined
      active?: boolean | undefined
      credentials?: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | string | undefined
      } | undefined
      /** Check the credentials with the provider first, if it supports that */
      check?: boolean | undefined
      /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
      conditions?: Array<unknown> | undefined
      configurations?: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      } | undefined
      providerId: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | 'web-push'
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind?: 'delivery' | undefined
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** List active integrations */
  'GET /v1/integrations/active': {
    answer: Array<{
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }>
  }
  /** Change the given fields of an integration */
  'PUT /v1/integrations/{integrationId}': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    body: {
      name?: string | undefined
      identifier?: string | undefined
      _environmentId?: string | undefined
      active?: boolean | undefined
      credentials?: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | string | undefined
      } | undefined
      /** Check the credentials with the provider first, if it supports that */
      check?: boolean | undefined
      /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
      conditions?: Array<unknown> | undefined
      configurations?: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      } | undefined
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete an integration */
  'DELETE /v1/integrations/{integrationId}': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    answer: Array<{
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }>
  }
  /** Make an integration the primary one of its channel */
  'POST /v1/integrations/{integrationId}/set-primary': {
    path: {
      integrationId: string
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      name: string
      identifier: string
      providerId: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      kind: 'delivery' | 'agent'
      credentials: {
        AppBaseUrl?: string | undefined
        AppIOBaseUrl?: string | undefined
        accessKey?: string | undefined
        accountSid?: string | undefined
        alertUid?: string | undefined
        apiKey?: string | undefined
        apiKeyRequestHeader?: string | undefined
        apiToken?: string | undefined
        apiURL?: string | undefined
        apiVersion?: string | undefined
        appID?: string | undefined
        appSid?: string | undefined
        applicationId?: string | undefined
        authenticationTokenKey?: string | undefined
        baseUrl?: string | undefined
        businessAccountId?: string | undefined
        channelId?: string | undefined
        clientId?: string | undefined
        contentType?: string | undefined
        datePath?: string | undefined
        domain?: string | undefined
        externalLink?: string | undefined
        from?: string | undefined
        fromAddressOverride?: string | undefined
        host?: string | undefined
        idPath?: string | undefined
        imageUrl?: string | undefined
        instanceId?: string | undefined
        ipPoolName?: string | undefined
        messageProfileId?: string | undefined
        outboundIntegrationId?: string | undefined
        password?: string | undefined
        phoneNumberIdentification?: string | undefined
        port?: string | undefined
        projectName?: string | undefined
        redirectUrl?: string | undefined
        region?: string | undefined
        secretKey?: string | undefined
        secretKeyRequestHeader?: string | undefined
        senderId?: string | undefined
        senderName?: string | undefined
        serviceAccount?: string | undefined
        servicePlanId?: string | undefined
        signingSecret?: string | undefined
        state?: string | undefined
        tenantId?: string | undefined
        title?: string | undefined
        token?: string | undefined
        user?: string | undefined
        webhookUrl?: string | undefined
        authenticateByToken?: boolean | undefined
        hmac?: boolean | undefined
        ignoreTls?: boolean | undefined
        requireTls?: boolean | undefined
        secure?: boolean | undefined
        useFromAddressOverride?: boolean | undefined
        tlsOptions?: Record<string, unknown> | undefined
      }
      configurations: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
        /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
        bounceAddress?: boolean | undefined
        /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
        onUnknown?: 'retry' | 'hold' | undefined
      }
      active: boolean
      deleted: boolean
      primary: boolean
      priority: number
      conditions: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | undefined
        }>
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Set up delivery events at the provider */
  'POST /v1/integrations/{integrationId}/auto-configure': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    answer: {
      success: boolean
      message?: string | undefined
      integration?: {
        _id: string
        _environmentId: string
        _organizationId: string
        name: string
        identifier: string
        providerId: string
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        kind: 'delivery' | 'agent'
        credentials: {
          AppBaseUrl?: string | undefined
          AppIOBaseUrl?: string | undefined
          accessKey?: string | undefined
          accountSid?: string | undefined
          alertUid?: string | undefined
          apiKey?: string | undefined
          apiKeyRequestHeader?: string | undefined
          apiToken?: string | undefined
          apiURL?: string | undefined
          apiVersion?: string | undefined
          appID?: string | undefined
          appSid?: string | undefined
          applicationId?: string | undefined
          authenticationTokenKey?: string | undefined
          baseUrl?: string | undefined
          businessAccountId?: string | undefined
          channelId?: string | undefined
          clientId?: string | undefined
          contentType?: string | undefined
          datePath?: string | undefined
          domain?: string | undefined
          externalLink?: string | undefined
          from?: string | undefined
          fromAddressOverride?: string | undefined
          host?: string | undefined
          idPath?: string | undefined
          imageUrl?: string | undefined
          instanceId?: string | undefined
          ipPoolName?: string | undefined
          messageProfileId?: string | undefined
          outboundIntegrationId?: string | undefined
          password?: string | undefined
          phoneNumberIdentification?: string | undefined
          port?: string | undefined
          projectName?: string | undefined
          redirectUrl?: string | undefined
          region?: string | undefined
          secretKey?: string | undefined
          secretKeyRequestHeader?: string | undefined
          senderId?: string | undefined
          senderName?: string | undefined
          serviceAccount?: string | undefined
          servicePlanId?: string | undefined
          signingSecret?: string | undefined
          state?: string | undefined
          tenantId?: string | undefined
          title?: string | undefined
          token?: string | undefined
          user?: string | undefined
          webhookUrl?: string | undefined
          authenticateByToken?: boolean | undefined
          hmac?: boolean | undefined
          ignoreTls?: boolean | undefined
          requireTls?: boolean | undefined
          secure?: boolean | undefined
          useFromAddressOverride?: boolean | undefined
          tlsOptions?: Record<string, unknown> | undefined
        }
        configurations: {
          inboundWebhookEnabled?: boolean | undefined
          inboundWebhookSigningKey?: string | undefined
          configurationSetName?: string | undefined
          inboxCount?: 'none' | 'unread' | 'unseen' | undefined
          /** For SMTP, where the environment receives mail: mail servers report to us what they could not deliver */
          bounceAddress?: boolean | undefined
          /** After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not */
          onUnknown?: 'retry' | 'hold' | undefined
        }
        active: boolean
        deleted: boolean
        primary: boolean
        priority: number
        conditions: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | undefined
          }>
        }>
        createdAt: string
        updatedAt: string
      } | undefined
    }
  }
  /** Check whether the provider of an integration supports delivery events */
  'GET /v1/integrations/webhook/provider/{providerOrIntegrationId}/status': {
    path: {
      /** A provider id, or an `_id` */
      providerOrIntegrationId: string
    }
    answer: boolean
  }
  /** Create a webhook endpoint */
  'POST /v2/webhooks/endpoints': {
    body: {
      url: string
      description?: string | null | undefined
      /** All, if null */
      eventTypes?: Array<'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.clicked' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'workflow.braked' | 'workflow.brake-released' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated' | 'suppression.created' | 'suppression.removed' | 'question.asked' | 'question.escalated' | 'question.answered' | 'question.expired' | 'question.canceled' | 'run.goal-met' | 'sms.received' | 'publish.requested' | 'publish.approved' | 'publish.declined' | 'publish.withdrawn' | 'audit.recorded'> | null | undefined
      active?: boolean | undefined
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** The event types it gets; null is all of them */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when every delivery has failed */
      failingSince: string | null
      /** Set when the service disabled it, after every delivery had failed for five days */
      disabledAt: string | null
      /** Until then requests are also signed with the previous secret */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
      /** Shown only this once */
      secret: string
    }
  }
  /** List webhook endpoints */
  'GET /v2/webhooks/endpoints': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
    }
    answer: {
      data: Array<{
        _id: string
        url: string
        description: string | null
        /** The event types it gets; null is all of them */
        eventTypes: Array<string> | null
        active: boolean
        /** Since when every delivery has failed */
        failingSince: string | null
        /** Set when the service disabled it, after every delivery had failed for five days */
        disabledAt: string | null
        /** Until then requests are also signed with the previous secret */
        previousSecretExpiresAt: string | null
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a webhook endpoint */
  'GET /v2/webhooks/endpoints/{endpointId}': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** The event types it gets; null is all of them */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when every delivery has failed */
      failingSince: string | null
      /** Set when the service disabled it, after every delivery had failed for five days */
      disabledAt: string | null
      /** Until then requests are also signed with the previous secret */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of a webhook endpoint */
  'PATCH /v2/webhooks/endpoints/{endpointId}': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    body: {
      url?: string | undefined
      description?: string | null | undefined
      /** All, if null */
      eventTypes?: Array<'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.clicked' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'workflow.braked' | 'workflow.brake-released' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated' | 'suppression.created' | 'suppression.removed' | 'question.asked' | 'question.escalated' | 'question.answered' | 'question.expired' | 'question.canceled' | 'run.goal-met' | 'sms.received' | 'publish.requested' | 'publish.approved' | 'publish.declined' | 'publish.withdrawn' | 'audit.recorded'> | null | undefined
      active?: boolean | undefined
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** The event types it gets; null is all of them */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when every delivery has failed */
      failingSince: string | null
      /** Set when the service disabled it, after every delivery had failed for five days */
      disabledAt: string | null
      /** Until then requests are also signed with the previous secret */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a webhook endpoint */
  'DELETE /v2/webhooks/endpoints/{endpointId}': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    answer: undefined
  }
  /** Give a webhook endpoint a new secret */
  'POST /v2/webhooks/endpoints/{endpointId}/rotate-secret': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    body: {
      overlapHours?: number | undefined
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** The event types it gets; null is all of them */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when every delivery has failed */
      failingSince: string | null
      /** Set when the service disabled it, after every delivery had failed for five days */
      disabledAt: string | null
      /** Until then requests are also signed with the previous secret */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
      /** Shown only this once */
      secret: string
    }
  }
  /** List events */
  'GET /v2/webhooks/events': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      type?: 'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.clicked' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'workflow.braked' | 'workflow.brake-released' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated' | 'suppression.created' | 'suppression.removed' | 'question.asked' | 'question.escalated' | 'question.answered' | 'question.expired' | 'question.canceled' | 'run.goal-met' | 'sms.received' | 'publish.requested' | 'publish.approved' | 'publish.declined' | 'publish.withdrawn' | 'audit.recorded' | undefined
      subscriberId?: string | undefined
      /** ISO 8601 */
      since?: string | undefined
      /** ISO 8601 */
      until?: string | undefined
    }
    answer: {
      data: Array<{
        id: string
        type: string
        object: string
        data: Record<string, unknown>
        timestamp: string
        environmentId: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve an event */
  'GET /v2/webhooks/events/{eventId}': {
    path: {
      /** Its `id` */
      eventId: string
    }
    answer: {
      id: string
      type: string
      object: string
      data: Record<string, unknown>
      timestamp: string
      environmentId: string
    }
  }
  /** List deliveries of events to endpoints */
  'GET /v2/webhooks/deliveries': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      endpointId?: string | undefined
      eventId?: string | undefined
      status?: 'pending' | 'sending' | 'delivered' | 'failed' | undefined
      /** ISO 8601 */
      since?: string | undefined
      /** ISO 8601 */
      until?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        eventId: string
        eventType: string
        endpointId: string
        status: 'pending' | 'sending' | 'delivered' | 'failed'
        /** Since the delivery was created or replayed */
        attempts: number
        nextAttemptAt: string | null
        /** The latest attempts, newest last */
        history: Array<{
          at: string
          durationMs: number
          status?: number | undefined
          response?: string | undefined
          error?: string | undefined
        }>
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Send an event again */
  'POST /v2/webhooks/events/{eventId}/resend': {
    path: {
      /** Its `id` */
      eventId: string
    }
    body: {
      endpointId?: string | undefined
    }
    answer: {
      /** How many will be sent */
      count: number
    }
  }
  /** Send a test event to an endpoint */
  'POST /v2/webhooks/endpoints/{endpointId}/test': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    answer: {
      eventId: string
    }
  }
  /** Send an endpoint the events since a time again */
  'POST /v2/webhooks/endpoints/{endpointId}/replay': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    body: {
      /** ISO 8601 */
      since: string
      /** ISO 8601 */
      until?: string | undefined
      status?: 'missed' | 'all' | undefined
    }
    answer: {
      /** How many will be sent */
      count: number
    }
  }
  /** List the health of all integrations */
  'GET /v1/integrations/health': {
    answer: Array<{
      integrationId: string
      /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next message tests whether it works again. */
      state: 'closed' | 'open' | 'half_open'
      /** In a row */
      failures: number
      error?: string | undefined
      retryAt?: string | undefined
      /** When it last took a message, or a test. None: it was never used */
      lastSentAt?: string | undefined
      /** If it takes no message since then, as with a wrong key or host */
      refusedSince?: string | undefined
      /** Why it takes none, such as `unauthorized` or `host_unknown`; `error` has the words */
      errorCode?: string | undefined
      /** For addresses of subscribers, such as chat webhooks: those that fail */
      hosts: Array<{
        host: string
        /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next message tests whether it works again. */
        state: 'closed' | 'open' | 'half_open'
        /** In a row */
        failures: number
        error?: string | undefined
        retryAt?: string | undefined
      }>
    }>
  }
  /** Retrieve the health of an integration */
  'GET /v1/integrations/{integrationId}/health': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    answer: {
      /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next message tests whether it works again. */
      state: 'closed' | 'open' | 'half_open'
      /** In a row */
      failures: number
      error?: string | undefined
      retryAt?: string | undefined
      /** When it last took a message, or a test. None: it was never used */
      lastSentAt?: string | undefined
      /** If it takes no message since then, as with a wrong key or host */
      refusedSince?: string | undefined
      /** Why it takes none, such as `unauthorized` or `host_unknown`; `error` has the words */
      errorCode?: string | undefined
      /** For addresses of subscribers, such as chat webhooks: those that fail */
      hosts: Array<{
        host: string
        /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next message tests whether it works again. */
        state: 'closed' | 'open' | 'half_open'
        /** In a row */
        failures: number
        error?: string | undefined
        retryAt?: string | undefined
      }>
    }
  }
  /** Check the domain of an email integration's sender */
  'GET /v1/integrations/{integrationId}/deliverability': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    query?: {
      /** Default: that of the From address */
      domain?: string | undefined
      /** Of the DKIM key. Default: the one Belfry signs with */
      selector?: string | undefined
      /** Ask again now */
      fresh?: boolean | undefined
    }
    answer: {
      integrationId: string
      domain: string
      checkedAt: string
      /** The worst of all checks that were not skipped, apart from `bimi` */
      status: 'skip' | 'pass' | 'warn' | 'fail'
      checks: Array<{
        id: 'spf' | 'dkim' | 'dmarc' | 'mx' | 'ptr' | 'tls' | 'bimi' | 'one_click'
        status: 'skip' | 'pass' | 'warn' | 'fail'
        summary: string
        /** As the DNS has them */
        records: Array<string>
        details: Record<string, unknown>
        /** A record that would make it better */
        publish?: {
          type: 'TXT' | 'MX'
          name: string
          value: string
        } | undefined
      }>
    }
  }
  /** Send a test message through an integration */
  'POST /v1/integrations/{integrationId}/test': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    body: {
      /** An email address, a phone number, a device token, or a chat webhook */
      to: string
      /** Of an email or push message */
      subject?: string | undefined
      content?: string | undefined
    }
    answer: {
      success: boolean
      /** The message id of the provider */
      providerMessageId?: string | undefined
      error?: {
        /** Such as `unauthorized` or `timeout` */
        code: string
        /** What may help: retry later; another provider; other credentials; another address; or nothing, because the message is refused */
        kind: 'later' | 'failover' | 'credentials' | 'address' | 'never'
        message: string
        /** HTTP status of the answer */
        status?: number | undefined
      } | undefined
      durationMs: number
    }
  }
  /** List failed deliveries, newest first */
  'GET /v1/deliveries': {
    query?: {
      status?: 'failed' | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      reason?: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'braked' | 'internal' | undefined
      providerId?: string | undefined
      transactionId?: string | undefined
      subscriberId?: string | undefined
      workflowId?: string | undefined
      /** Cursor: `next` of the previous page */
      after?: string | undefined
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        id: string
        status: 'failed'
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        reason: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'braked' | 'internal'
        error?: string | undefined
        providerId?: string | undefined
        /** The id of its activity record */
        notificationId: string
        transactionId: string
        subscriberId: string
        workflowId?: string | undefined
        stepId: string
        /** One, or one per device or chat of the subscriber; those already sent are not sent again */
        destinations: Array<{
          status: 'waiting' | 'sent' | 'failed'
          /** How often the provider was called */
          calls: number
          providerId?: string | undefined
          integrationId?: string | undefined
          error?: string | undefined
        }>
        createdAt: string
        failedAt: string
      }>
      next: string | null
    }
  }
  /** Send a failed delivery again */
  'POST /v1/deliveries/{deliveryId}/redrive': {
    path: {
      deliveryId: string
    }
    answer: {
      redriven: number
    }
  }
  /** Send all matching failed deliveries again */
  'POST /v1/deliveries/redrive': {
    body: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      reason?: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'braked' | 'internal' | undefined
      providerId?: string | undefined
      transactionId?: string | undefined
      subscriberId?: string | undefined
      workflowId?: string | undefined
    }
    answer: {
      redriven: number
      hasMore: boolean
    }
  }
  /** List the messages in the sandbox */
  'GET /v1/sandbox/messages': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      subscriberId?: string | undefined
      /** An address, number, device or chat */
      to?: string | undefined
      transactionId?: string | undefined
      /** Part of the subject, the text, an address or the subscriber id */
      search?: string | undefined
    }
    answer: {
      data: Array<{
        /** The message's own id */
        id: string
        channel: 'email' | 'sms' | 'chat' | 'push'
        transactionId: string
        subscriberId: string
        workflowId: string
        stepId: string
        /** Addresses, numbers, devices or chats */
        to: Array<string>
        subject: string | null
        text: string | null
        createdAt: string
        attachments: Array<{
          name: string
          mime: string
          cid?: string | undefined
          disposition?: string | undefined
        }>
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Empty the sandbox */
  'DELETE /v1/sandbox/messages': {
    answer: undefined
  }
  /** Retrieve a message from the sandbox, with its HTML, headers and files */
  'GET /v1/sandbox/messages/{messageId}': {
    path: {
      messageId: string
    }
    answer: {
      /** The message's own id */
      id: string
      channel: 'email' | 'sms' | 'chat' | 'push'
      transactionId: string
      subscriberId: string
      workflowId: string
      stepId: string
      /** Addresses, numbers, devices or chats */
      to: Array<string>
      subject: string | null
      text: string | null
      createdAt: string
      html: string | null
      headers: Record<string, unknown>
      /** Everything the provider would have got */
      message: Record<string, unknown>
      attachments: Array<{
        name: string
        mime: string
        cid?: string | undefined
        disposition?: string | undefined
        /** Base64 */
        content: string
      }>
    }
  }
  /** List the simulated faults */
  'GET /v1/sandbox/faults': {
    answer: Array<{
      /** Absent: every channel without its own fault */
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      /** For this many messages; absent: until it is removed */
      count?: number | undefined
    }>
  }
  /** Simulate a fault */
  'PUT /v1/sandbox/faults': {
    body: {
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      count?: number | undefined
    }
    answer: Array<{
      /** Absent: every channel without its own fault */
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      /** For this many messages; absent: until it is removed */
      count?: number | undefined
    }>
  }
  /** Remove the simulated faults */
  'DELETE /v1/sandbox/faults': {
    answer: undefined
  }
  /** List providers, by channel and id */
  'GET /v1/providers': {
    query?: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
    }
    answer: Array<{
      /** The `providerId` of its integrations. */
      id: string
      name: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      /** The vendor's documentation, or ours for your own server. */
      docs?: string | undefined
      /** Whether it can send delivery events to our inbound webhook. */
      reportsDeliveries: boolean
      /** Credentials that verify its delivery events. Without one of them, store a signing key. */
      reportsCheckedBy: Array<string>
      credentials: Array<{
        /** The member of `credentials`. */
        name: string
        label: string
        /** A string, a boolean, or an object (or its JSON text). */
        type: 'text' | 'flag' | 'object'
        /** Needed for delivery, but not for saving. */
        required: boolean
        /** Stored encrypted; hide it in forms. */
        secret: boolean
        help?: string | undefined
        choices?: Array<string> | undefined
      }>
    }>
  }
  /** Create a channel connection */
  'POST /v1/channel-connections': {
    body: {
      integrationIdentifier: string
      workspace: {
        id: string
        name?: string | undefined
      }
      auth: {
        accessToken: string
      }
      identifier?: string | undefined
      subscriberId?: string | undefined
      context?: Record<string, unknown> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      subscriberId: string | null
      contextKeys: Array<string>
      workspace: {
        id: string
        name?: string | undefined
      }
      auth: {
        accessToken: string
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** List channel connections */
  'GET /v1/channel-connections': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** Never matches shared connections */
      subscriberId?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | 'web-push' | undefined
      integrationIdentifier?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        identifier: string
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        providerId: string
        integrationIdentifier: string
        subscriberId: string | null
        contextKeys: Array<string>
        workspace: {
          id: string
          name?: string | undefined
        }
        auth: {
          accessToken: string
        }
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a channel connection */
  'GET /v1/channel-connections/{identifier}': {
    path: {
      identifier: string
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      subscriberId: string | null
      contextKeys: Array<string>
      workspace: {
        id: string
        name?: string | undefined
      }
      auth: {
        accessToken: string
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Replace the workspace and its authorization */
  'PATCH /v1/channel-connections/{identifier}': {
    path: {
      identifier: string
    }
    body: {
      workspace: {
        id: string
        name?: string | undefined
      }
      auth: {
        accessToken: string
      }
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      subscriberId: string | null
      contextKeys: Array<string>
      workspace: {
        id: string
        name?: string | undefined
      }
      auth: {
        accessToken: string
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a channel connection; endpoints that name it stay */
  'DELETE /v1/channel-connections/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** Create a channel endpoint */
  'POST /v1/channel-endpoints': {
    body: {
      type: 'slack_channel' | 'slack_user' | 'webhook' | 'phone' | 'ms_teams_channel' | 'ms_teams_user'
      /** Exactly the members of its type: `channelId` of a `slack_channel`, `userId` of a `slack_user` or `ms_teams_user`, `url` and perhaps `channel` of a `webhook`, `phoneNumber` of a `phone`, `teamId` and `channelId` of an `ms_teams_channel` */
      endpoint: Record<string, unknown>
      subscriberId: string
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      identifier?: string | undefined
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      connectionIdentifier: string | null
      subscriberId: string
      contextKeys: Array<string>
      type: 'slack_channel' | 'slack_user' | 'webhook' | 'phone' | 'ms_teams_channel' | 'ms_teams_user'
      endpoint: Record<string, string>
      createdAt: string
      updatedAt: string
    }
  }
  /** List channel endpoints */
  'GET /v1/channel-endpoints': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      subscriberId?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | 'web-push' | undefined
      integrationIdentifier?: string | undefined
      connectionIdentifier?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        identifier: string
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        providerId: string
        integrationIdentifier: string
        connectionIdentifier: string | null
        subscriberId: string
        contextKeys: Array<string>
        type: 'slack_channel' | 'slack_user' | 'webhook' | 'phone' | 'ms_teams_channel' | 'ms_teams_user'
        endpoint: Record<string, string>
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Retrieve a channel endpoint */
  'GET /v1/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      connectionIdentifier: string | null
      subscriberId: string
      contextKeys: Array<string>
      type: 'slack_channel' | 'slack_user' | 'webhook' | 'phone' | 'ms_teams_channel' | 'ms_teams_user'
      endpoint: Record<string, string>
      createdAt: string
      updatedAt: string
    }
  }
  /** Replace the address of a channel endpoint; its type stays */
  'PATCH /v1/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    body: {
      /** Exactly the members of its type: `channelId` of a `slack_channel`, `userId` of a `slack_user` or `ms_teams_user`, `url` and perhaps `channel` of a `webhook`, `phoneNumber` of a `phone`, `teamId` and `channelId` of an `ms_teams_channel` */
      endpoint: Record<string, unknown>
    }
    answer: {
      identifier: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      providerId: string
      integrationIdentifier: string
      connectionIdentifier: string | null
      subscriberId: string
      contextKeys: Array<string>
      type: 'slack_channel' | 'slack_user' | 'webhook' | 'phone' | 'ms_teams_channel' | 'ms_teams_user'
      endpoint: Record<string, string>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a channel endpoint */
  'DELETE /v1/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** Create a URL that connects a chat workspace */
  'POST /v1/integrations/channel-connections/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId?: string | undefined
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: the bot scopes; default: a sensible set */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also create an endpoint for the person who signs in */
      autoLinkUser?: boolean | undefined
    }
    answer: {
      url: string
    }
  }
  /** Create a URL that links a subscriber to their chat user */
  'POST /v1/integrations/channel-endpoints/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: the user scopes; default: `identity.basic` */
      userScope?: Array<string> | undefined
    }
    answer: {
      url: string
    }
  }
  /** Create a URL for either */
  'POST /v1/integrations/chat/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId?: string | undefined
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: the bot scopes; default: a sensible set */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also create an endpoint for the person who signs in */
      autoLinkUser?: boolean | undefined
      /** Slack: the user scopes; default: `identity.basic` */
      userScope?: Array<string> | undefined
      mode?: 'connect' | 'link_user' | undefined
    }
    answer: {
      url: string
    }
  }
  /** Where Slack and Microsoft send people back to */
  'GET /v1/integrations/chat/oauth/callback': {
    query?: {
      code?: string | undefined
      state?: string | undefined
      tenant?: string | undefined
      admin_consent?: string | undefined
      error?: string | undefined
      error_description?: string | undefined
    }
    answer: undefined
  }
  /** Create a link that connects the subscriber with a bot */
  'POST /v1/inbox/channel-endpoints/link': {
    body: {
      integrationIdentifier: string
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
    }
    answer: {
      data: {
        url: string
        providerMetadata: {
          botUsername: string
          expiresAt: string
        }
      }
    }
  }
  /** Create a link that connects a subscriber with a bot */
  'POST /v1/integrations/channel-endpoints/link': {
    body: {
      integrationIdentifier: string
      context?: Record<string, unknown> | undefined
      subscriberId: string
    }
    answer: {
      url: string
      providerMetadata: {
        botUsername: string
        expiresAt: string
      }
    }
  }
  /** List tenants, newest first */
  'GET /v1/tenants': {
    query?: {
      page?: number | undefined
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        _id: string
        identifier: string
        name?: string | undefined
        data?: Record<string, unknown> | undefined
        _environmentId: string
        createdAt: string
        updatedAt: string
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Create a tenant */
  'POST /v1/tenants': {
    body: {
      identifier: string
      name: string
      data?: Record<string, unknown> | undefined
    }
    answer: {
      _id: string
      identifier: string
      name?: string | undefined
      data?: Record<string, unknown> | undefined
      _environmentId: string
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve a tenant */
  'GET /v1/tenants/{identifier}': {
    path: {
      identifier: string
    }
    answer: {
      _id: string
      identifier: string
      name?: string | undefined
      data?: Record<string, unknown> | undefined
      _environmentId: string
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of a tenant; empty ones are ignored */
  'PATCH /v1/tenants/{identifier}': {
    path: {
      identifier: string
    }
    body: {
      identifier?: string | null | undefined
      name?: string | null | undefined
      data?: Record<string, unknown> | null | undefined
    }
    answer: {
      _id: string
      identifier: string
      name?: string | undefined
      data?: Record<string, unknown> | undefined
      _environmentId: string
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a tenant */
  'DELETE /v1/tenants/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** List workflow overrides, newest first */
  'GET /v1/workflow-overrides': {
    query?: {
      page?: number | undefined
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        _id: string
        _environmentId: string
        _organizationId: string
        _workflowId: string
        _tenantId: string
        workflowId?: string | undefined
        tenantId?: string | undefined
        /** Absent: as the workflow */
        active?: boolean | undefined
        /** Absent channels follow the workflow */
        preferenceSettings: {
          email?: boolean | undefined
          sms?: boolean | undefined
          in_app?: boolean | undefined
          chat?: boolean | undefined
          push?: boolean | undefined
        }
        createdAt: string
        updatedAt: string
      }>
      page: number
      pageSize: number
      hasMore: boolean
      totalCount?: number | undefined
    }
  }
  /** Override a workflow for a tenant */
  'POST /v1/workflow-overrides': {
    body: {
      /** Identifier or internal id */
      workflowId: string
      /** Identifier or internal id */
      tenantId: string
      /** Whether triggers for this tenant run the workflow */
      active?: boolean | null | undefined
      /** Replaces the previous settings */
      preferenceSettings?: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      } | null | undefined
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _workflowId: string
      _tenantId: string
      workflowId?: string | undefined
      tenantId?: string | undefined
      /** Absent: as the workflow */
      active?: boolean | undefined
      /** Absent channels follow the workflow */
      preferenceSettings: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve a workflow override */
  'GET /v1/workflow-overrides/{overrideId}': {
    path: {
      overrideId: string
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _workflowId: string
      _tenantId: string
      workflowId?: string | undefined
      tenantId?: string | undefined
      /** Absent: as the workflow */
      active?: boolean | undefined
      /** Absent channels follow the workflow */
      preferenceSettings: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of a workflow override */
  'PUT /v1/workflow-overrides/{overrideId}': {
    path: {
      overrideId: string
    }
    body: {
      /** Whether triggers for this tenant run the workflow */
      active?: boolean | null | undefined
      /** Replaces the previous settings */
      preferenceSettings?: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      } | null | undefined
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _workflowId: string
      _tenantId: string
      workflowId?: string | undefined
      tenantId?: string | undefined
      /** Absent: as the workflow */
      active?: boolean | undefined
      /** Absent channels follow the workflow */
      preferenceSettings: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a workflow override */
  'DELETE /v1/workflow-overrides/{overrideId}': {
    path: {
      overrideId: string
    }
    answer: undefined
  }
  /** Retrieve the override of a workflow for a tenant */
  'GET /v1/workflow-overrides/workflows/{workflowId}/tenants/{tenantId}': {
    path: {
      /** Identifier or internal id */
      workflowId: string
      /** Identifier or internal id */
      tenantId: string
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _workflowId: string
      _tenantId: string
      workflowId?: string | undefined
      tenantId?: string | undefined
      /** Absent: as the workflow */
      active?: boolean | undefined
      /** Absent channels follow the workflow */
      preferenceSettings: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of the override of a workflow for a tenant */
  'PUT /v1/workflow-overrides/workflows/{workflowId}/tenants/{tenantId}': {
    path: {
      /** Identifier or internal id */
      workflowId: string
      /** Identifier or internal id */
      tenantId: string
    }
    body: {
      /** Whether triggers for this tenant run the workflow */
      active?: boolean | null | undefined
      /** Replaces the previous settings */
      preferenceSettings?: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      } | null | undefined
    }
    answer: {
      _id: string
      _environmentId: string
      _organizationId: string
      _workflowId: string
      _tenantId: string
      workflowId?: string | undefined
      tenantId?: string | undefined
      /** Absent: as the workflow */
      active?: boolean | undefined
      /** Absent channels follow the workflow */
      preferenceSettings: {
        email?: boolean | undefined
        sms?: boolean | undefined
        in_app?: boolean | undefined
        chat?: boolean | undefined
        push?: boolean | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Create an environment */
  'POST /v1/environments': {
    body: {
      name: string
      color: string
      /** Accepted from older clients and ignored */
      parentId?: string | undefined
      /** Makes an environment for tests: its clock stands still until it is advanced */
      clock?: {
        /** ISO 8601, or `2026-03-29T02:30[Europe/Berlin]`; without it, the real time */
        now?: string | undefined
        seed?: number | undefined
      } | undefined
      /** Makes an environment in front of another service: requests with its key go on to that one, and are done here too, where nothing is sent until a workflow is live */
      shadow?: {
        /** The address of the service behind it, such as `https://api.novu.co`; requests keep their path */
        upstreamUrl: string
        /** Its API key there. It is kept encrypted and never shown */
        upstreamKey: string
        /** How long after a trigger both sides are compared at the latest. Default: 10 */
        settleMinutes?: number | undefined
      } | undefined
    }
    answer: {
      _id: string
      name: string
      _organizationId: string
      identifier: string
      type: 'dev' | 'prod'
      color?: string | undefined
      _parentId?: string | undefined
      slug: string
      apiKeys: Array<{
        key: string
        _userId: string
        createdAt: string
        /** Set once the key has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      /** Only where the clock is held: what it shows. See `GET /v1/clock` */
      clock?: {
        held: true
        now: string
        seed: number
      } | undefined
      /** Only where it stands in front of another service */
      shadow?: {
        upstreamUrl: string
        settleMinutes: number
        /** The workflows that are delivered here, and not passed on */
        live: Array<string>
      } | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** List the environments of the organization */
  'GET /v1/environments': {
    answer: Array<{
      _id: string
      name: string
      _organizationId: string
      identifier: string
      type: 'dev' | 'prod'
      color?: string | undefined
      _parentId?: string | undefined
      slug: string
      apiKeys: Array<{
        key: string
        _userId: string
        createdAt: string
        /** Set once the key has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      /** Only where the clock is held: what it shows. See `GET /v1/clock` */
      clock?: {
        held: true
        now: string
        seed: number
      } | undefined
      /** Only where it stands in front of another service */
      shadow?: {
        upstreamUrl: string
        settleMinutes: number
        /** The workflows that are delivered here, and not passed on */
        live: Array<string>
      } | undefined
      createdAt: string
      updatedAt: string
    }>
  }
  /** Retrieve the key's own environment */
  'GET /v1/environments/me': {
    answer: {
      _id: string
      name: string
      _organizationId: string
      identifier: string
      type: 'dev' | 'prod'
      color?: string | undefined
      _parentId?: string | undefined
      slug: string
      apiKeys: Array<{
        key: string
        _userId: string
        createdAt: string
        /** Set once the key has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      /** Only where the clock is held: what it shows. See `GET /v1/clock` */
      clock?: {
        held: true
        now: string
        seed: number
      } | undefined
      /** Only where it stands in front of another service */
      shadow?: {
        upstreamUrl: string
        settleMinutes: number
        /** The workflows that are delivered here, and not passed on */
        live: Array<string>
      } | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of an environment */
  'PUT /v1/environments/{environmentId}': {
    path: {
      environmentId: string
    }
    body: {
      name?: string | undefined
      identifier?: string | undefined
      parentId?: string | undefined
      color?: string | undefined
      dns?: {
        inboundParseDomain?: string | undefined
      } | undefined
      bridge?: {
        url?: string | undefined
      } | undefined
      /** Refused: it is decided when an environment is made */
      clock?: unknown | undefined
    }
    answer: {
      _id: string
      name: string
      _organizationId: string
      identifier: string
      type: 'dev' | 'prod'
      color?: string | undefined
      _parentId?: string | undefined
      slug: string
      apiKeys: Array<{
        key: string
        _userId: string
        createdAt: string
        /** Set once the key has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      /** Only where the clock is held: what it shows. See `GET /v1/clock` */
      clock?: {
        held: true
        now: string
        seed: number
      } | undefined
      /** Only where it stands in front of another service */
      shadow?: {
        upstreamUrl: string
        settleMinutes: number
        /** The workflows that are delivered here, and not passed on */
        live: Array<string>
      } | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete an environment with all its data */
  'DELETE /v1/environments/{environmentId}': {
    path: {
      environmentId: string
    }
    answer: undefined
  }
  /** List the API keys of the key's environment */
  'GET /v1/environments/api-keys': {
    answer: Array<{
      key: string
      _userId: string
      createdAt: string
      /** Set once the key has been replaced */
      expiresAt?: string | undefined
    }>
  }
  /** Replace the compatible API key of the key's environment; the old one is refused at once */
  'POST /v1/environments/api-keys/regenerate': {
    answer: Array<{
      key: string
      _userId: string
      createdAt: string
      /** Set once the key has been replaced */
      expiresAt?: string | undefined
    }>
  }
  /** Add an API key to the key's environment; existing keys stay valid for a while */
  'POST /v1/environments/api-keys/rotate': {
    body: {
      /** How long existing keys stay valid; one that expires sooner is not extended */
      overlapHours?: number | undefined
    }
    answer: Array<{
      key: string
      _userId: string
      createdAt: string
      /** Set once the key has been replaced */
      expiresAt?: string | undefined
    }>
  }
  /** List the tags of the workflows in an environment of the organization */
  'GET /v2/environments/{environmentId}/tags': {
    path: {
      /** Its `_id` or `identifier` */
      environmentId: string
    }
    answer: Array<{
      name: string
    }>
  }
  /** Retrieve the environment's clock */
  'GET /v1/clock': {
    answer: {
      held: boolean
      now: string
      /** Decides the random part of waits before another attempt */
      seed?: number | undefined
      waiting?: {
        count: number
        /** When the next wait ends */
        next: string | null
      } | undefined
      /** Null while it stands still */
      advancingTo?: string | null | undefined
    }
  }
  /** Set a held clock, forwards or back */
  'PUT /v1/clock': {
    body: {
      /** ISO 8601, or `2026-03-29T02:30[Europe/Berlin]` */
      now: string
    }
    answer: {
      held: boolean
      now: string
      /** Decides the random part of waits before another attempt */
      seed?: number | undefined
      waiting?: {
        count: number
        /** When the next wait ends */
        next: string | null
      } | undefined
      /** Null while it stands still */
      advancingTo?: string | null | undefined
    }
  }
  /** Advance a held clock */
  'POST /v1/clock/advance': {
    body: {
      /** A duration: `30d`, `1h30m`, `90s`, `250ms` */
      by?: string | undefined
      /** A moment, or `next`: the next wait that ends */
      to?: string | undefined
    }
    answer: {
      from: string
      now: string
      /** False after a minute of work; the same `to` goes on */
      reached: boolean
      /** How many times it stopped for waits that ended */
      moments: number
      waitsEnded: number
      runsEnded: number
      /** Calls to providers */
      attempts: number
      /** Those sent, by channel */
      messages: Record<string, number>
      /** Steps, by reason */
      reasons: Record<string, number>
      /** Whether more steps ended than `events` has */
      hasMore: boolean
      waiting: {
        count: number
        /** When the next wait ends */
        next: string | null
      }
      /** The first 1,000 steps that ended, in order */
      events: Array<{
        at: string
        transactionId: string
        subscriberId: string
        workflowId: string
        stepId: string
        status: string
        reason: string | null
      }>
    }
  }
  /** Compare the workflows and layouts of two environments */
  'POST /v2/environments/{targetEnvironmentId}/diff': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; default: the Development environment */
      sourceEnvironmentId?: string | undefined
    }
    answer: {
      sourceEnvironmentId: string
      targetEnvironmentId: string
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        sourceResource: {
          /** Its identifier: workflowId, layoutId or stepId */
          id: string
          name: string
          updatedBy: {
            _id: string
            firstName: string
          } | null
          updatedAt: string | null
        } | null
        targetResource: {
          /** Its identifier: workflowId, layoutId or stepId */
          id: string
          name: string
          updatedBy: {
            _id: string
            firstName: string
          } | null
          updatedAt: string | null
        } | null
        changes: Array<{
          resourceType: 'workflow' | 'layout' | 'step' | 'localization_group'
          action: 'added' | 'modified' | 'deleted' | 'moved'
          sourceResource: {
            /** Its identifier: workflowId, layoutId or stepId */
            id: string
            name: string
            updatedBy: {
              _id: string
              firstName: string
            } | null
            updatedAt: string | null
          } | null
          targetResource: {
            /** Its identifier: workflowId, layoutId or stepId */
            id: string
            name: string
            updatedBy: {
              _id: string
              firstName: string
            } | null
            updatedAt: string | null
          } | null
          diffs?: {
            previous: Record<string, unknown> | null
            new: Record<string, unknown> | null
          } | undefined
          stepType?: string | undefined
          previousIndex?: number | undefined
          newIndex?: number | undefined
        }>
        summary: {
          added: number
          modified: number
          deleted: number
          unchanged: number
        }
        dependencies?: Array<{
          resourceType: 'workflow' | 'layout' | 'rota'
          resourceId: string
          resourceName: string
          isBlocking: boolean
          /** A rota is not copied: make it in the target */
          reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW' | 'LAYOUT_EXISTS_IN_TARGET' | 'ROTA_MISSING_IN_TARGET'
        }> | undefined
      }>
      summary: {
        totalEntities: number
        totalChanges: number
        hasChanges: boolean
      }
      /** What the target lacks for the workflows of the source */
      lacks: Array<{
        kind: 'provider' | 'variable' | 'translation' | 'rota' | 'hmac'
        /** The channel, the key of the variable, the locale, or the id of the rota */
        name: string
        /** The workflows of the source that need it */
        workflowIds: Array<string>
      }>
    }
  }
  /** Publish the workflows and layouts of one environment into another; deletes nothing unless asked */
  'POST /v2/environments/{targetEnvironmentId}/publish': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; default: the Development environment */
      sourceEnvironmentId?: string | undefined
      /** Change nothing, and report what would happen */
      dryRun?: boolean | undefined
      /** Also delete what only the target has; otherwise it is kept, and reported as skipped */
      deleteMissing?: boolean | undefined
      /** Publish only these, and the layouts that the workflows among them use. A named resource that only the target has is deleted */
      resources?: Array<{
        /** `workflow` or `layout`; the last three mean the workflow with that id, or else the layout */
        resourceType: 'workflow' | 'layout' | 'WORKFLOW' | 'LAYOUT' | 'REGULAR' | 'ECHO' | 'BRIDGE'
        /** Identifier, slug or internal id */
        resourceId: string
      }> | undefined
    }
    answer: {
      results: Array<{
        resourceType: 'workflow' | 'layout'
        successful: Array<{
          resourceType: 'workflow' | 'layout'
          resourceId: string
          resourceName: string
          action: 'created' | 'updated' | 'deleted'
        }>
        failed: Array<{
          resourceType: 'workflow' | 'layout'
          resourceId: string
          resourceName: string
          error: string
        }>
        skipped: Array<{
          resourceType: 'workflow' | 'layout'
          resourceId: string
          resourceName: string
          reason: string
        }>
        totalProcessed: number
      }>
      summary: {
        resources: number
        successful: number
        failed: number
        skipped: number
      }
    }
  }
  /** Ask for the approval of a publish into a protected environment */
  'POST /v2/environments/{targetEnvironmentId}/publish-requests': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; default: the Development environment */
      sourceEnvironmentId?: string | undefined
      /** For those who approve */
      comment?: string | undefined
      /** Also delete what only the target has */
      deleteMissing?: boolean | undefined
      /** Only these, and the layouts that the workflows among them use. A named resource that only the target has is deleted */
      resources?: Array<{
        /** `workflow` or `layout`; the last three mean the workflow with that id, or else the layout */
        resourceType: 'workflow' | 'layout' | 'WORKFLOW' | 'LAYOUT' | 'REGULAR' | 'ECHO' | 'BRIDGE'
        /** Identifier, slug or internal id */
        resourceId: string
      }> | undefined
    }
    answer: {
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
    }
  }
  /** List the publish requests of an environment, newest first */
  'GET /v2/environments/{targetEnvironmentId}/publish-requests': {
    path: {
      targetEnvironmentId: string
    }
    query?: {
      status?: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired' | undefined
    }
    answer: Array<{
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
    }>
  }
  /** List the publish requests of all environments that you have access to, newest first */
  'GET /v1/auth/publish-requests': {
    query?: {
      status?: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired' | undefined
    }
    answer: Array<{
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
    }>
  }
  /** Retrieve a publish request with its differences */
  'GET /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}': {
    path: {
      targetEnvironmentId: string
      requestId: string
    }
    answer: {
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
      diff: Array<{
        resourceType: 'workflow' | 'layout'
        sourceResource: {
          /** Its identifier: workflowId, layoutId or stepId */
          id: string
          name: string
          updatedBy: {
            _id: string
            firstName: string
          } | null
          updatedAt: string | null
        } | null
        targetResource: {
          /** Its identifier: workflowId, layoutId or stepId */
          id: string
          name: string
          updatedBy: {
            _id: string
            firstName: string
          } | null
          updatedAt: string | null
        } | null
        changes: Array<{
          resourceType: 'workflow' | 'layout' | 'step' | 'localization_group'
          action: 'added' | 'modified' | 'deleted' | 'moved'
          sourceResource: {
            /** Its identifier: workflowId, layoutId or stepId */
            id: string
            name: string
            updatedBy: {
              _id: string
              firstName: string
            } | null
            updatedAt: string | null
          } | null
          targetResource: {
            /** Its identifier: workflowId, layoutId or stepId */
            id: string
            name: string
            updatedBy: {
              _id: string
              firstName: string
            } | null
            updatedAt: string | null
          } | null
          diffs?: {
            previous: Record<string, unknown> | null
            new: Record<string, unknown> | null
          } | undefined
          stepType?: string | undefined
          previousIndex?: number | undefined
          newIndex?: number | undefined
        }>
        summary: {
          added: number
          modified: number
          deleted: number
          unchanged: number
        }
        dependencies?: Array<{
          resourceType: 'workflow' | 'layout' | 'rota'
          resourceId: string
          resourceName: string
          isBlocking: boolean
          /** A rota is not copied: make it in the target */
          reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW' | 'LAYOUT_EXISTS_IN_TARGET' | 'ROTA_MISSING_IN_TARGET'
        }> | undefined
      }>
      /** The names of what is not as it was reviewed. If there are any, the request cannot be approved any more */
      changedSince: Array<string>
    }
  }
  /** Approve a publish request, which publishes it */
  'POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/approve': {
    path: {
      targetEnvironmentId: string
      requestId: string
    }
    body: {
      comment?: string | undefined
    }
    answer: {
      request: {
        _id: string
        sourceEnvironmentId: string
        targetEnvironmentId: string
        status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
        comment: string
        requestedBy: {
          type: 'person' | 'api-key'
          id: string
          name: string
        }
        resources: Array<{
          resourceType: 'workflow' | 'layout'
          resourceId: string
          resourceName: string
          action: 'created' | 'updated' | 'deleted'
          /** SHA-256 of the change as it was reviewed */
          hash: string
        }>
        /** You made it, or the API key that made it, so you cannot approve it */
        isYours: boolean
        /** Whether you can approve or decline it */
        mayDecide: boolean
        decidedBy: {
          id: string
          name: string
        } | null
        decisionComment: string
        decidedAt: string | null
        createdAt: string
        expiresAt: string
      }
      report: {
        results: Array<{
          resourceType: 'workflow' | 'layout'
          successful: Array<{
            resourceType: 'workflow' | 'layout'
            resourceId: string
            resourceName: string
            action: 'created' | 'updated' | 'deleted'
          }>
          failed: Array<{
            resourceType: 'workflow' | 'layout'
            resourceId: string
            resourceName: string
            error: string
          }>
          skipped: Array<{
            resourceType: 'workflow' | 'layout'
            resourceId: string
            resourceName: string
            reason: string
          }>
          totalProcessed: number
        }>
        summary: {
          resources: number
          successful: number
          failed: number
          skipped: number
        }
      }
    }
  }
  /** Decline a publish request */
  'POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/decline': {
    path: {
      targetEnvironmentId: string
      requestId: string
    }
    body: {
      /** Why; the person who asked reads it */
      comment: string
    }
    answer: {
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
    }
  }
  /** Withdraw your own publish request */
  'POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/withdraw': {
    path: {
      targetEnvironmentId: string
      requestId: string
    }
    answer: {
      _id: string
      sourceEnvironmentId: string
      targetEnvironmentId: string
      status: 'pending' | 'approved' | 'declined' | 'withdrawn' | 'expired'
      comment: string
      requestedBy: {
        type: 'person' | 'api-key'
        id: string
        name: string
      }
      resources: Array<{
        resourceType: 'workflow' | 'layout'
        resourceId: string
        resourceName: string
        action: 'created' | 'updated' | 'deleted'
        /** SHA-256 of the change as it was reviewed */
        hash: string
      }>
      /** You made it, or the API key that made it, so you cannot approve it */
      isYours: boolean
      /** Whether you can approve or decline it */
      mayDecide: boolean
      decidedBy: {
        id: string
        name: string
      } | null
      decisionComment: string
      decidedAt: string | null
      createdAt: string
      expiresAt: string
    }
  }
  /** Retrieve the retention of an environment */
  'GET /v2/environments/{environmentId}/retention': {
    path: {
      environmentId: string
    }
    answer: {
      /** Null: as the service */
      activityDays: number | null
      /** Null: as the service */
      messageDays: number | null
      /** Null: as the service */
      inboxDays: number | null
      /** The settings of the service, for environments without their own */
      usual: {
        activityDays: number
        messageDays: number
        inboxDays: number
      }
    }
  }
  /** Change the retention of an environment */
  'PATCH /v2/environments/{environmentId}/retention': {
    path: {
      environmentId: string
    }
    body: {
      /** Days to keep triggers, runs and their steps; 0: forever, null: as the service */
      activityDays?: number | null | undefined
      /** The same for messages sent by email, SMS, chat and push */
      messageDays?: number | null | undefined
      /** The same for in-app messages */
      inboxDays?: number | null | undefined
    }
    answer: {
      /** Null: as the service */
      activityDays: number | null
      /** Null: as the service */
      messageDays: number | null
      /** Null: as the service */
      inboxDays: number | null
      /** The settings of the service, for environments without their own */
      usual: {
        activityDays: number
        messageDays: number
        inboxDays: number
      }
    }
  }
  /** Retrieve the send guards of this environment */
  'GET /v2/guards': {
    answer: {
      /** Outside the schedule of a subscriber, steps are skipped, or held until it opens. A workflow can say otherwise in `journey` */
      quietHours: 'skip' | 'hold'
      caps: Array<{
        /** Your name for it */
        id: string
        /** So many messages to one person in a window */
        limit: number
        /** Up to 90 days */
        window: {
          amount: number
          unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
        }
        /** Default: all but in-app */
        channels?: Array<'in_app' | 'email' | 'sms' | 'chat' | 'push'> | undefined
        /** Of workflows; one of them is enough. Default: all workflows */
        tags?: Array<string> | undefined
      }>
    }
  }
  /** Replace the send guards of this environment */
  'PUT /v2/guards': {
    body: {
      /** Outside the schedule of a subscriber, steps are skipped, or held until it opens. A workflow can say otherwise in `journey` */
      quietHours?: 'skip' | 'hold' | undefined
      caps?: Array<{
        /** Your name for it */
        id: string
        /** So many messages to one person in a window */
        limit: number
        /** Up to 90 days */
        window: {
          amount: number
          unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
        }
        /** Default: all but in-app */
        channels?: Array<'in_app' | 'email' | 'sms' | 'chat' | 'push'> | undefined
        /** Of workflows; one of them is enough. Default: all workflows */
        tags?: Array<string> | undefined
      }> | undefined
    }
    answer: {
      /** Outside the schedule of a subscriber, steps are skipped, or held until it opens. A workflow can say otherwise in `journey` */
      quietHours: 'skip' | 'hold'
      caps: Array<{
        /** Your name for it */
        id: string
        /** So many messages to one person in a window */
        limit: number
        /** Up to 90 days */
        window: {
          amount: number
          unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
        }
        /** Default: all but in-app */
        channels?: Array<'in_app' | 'email' | 'sms' | 'chat' | 'push'> | undefined
        /** Of workflows; one of them is enough. Default: all workflows */
        tags?: Array<string> | undefined
      }>
    }
  }
  /** Retrieve the consent settings of an environment */
  'GET /v2/environments/{environmentId}/consent': {
    path: {
      environmentId: string
    }
    answer: {
      brand: {
        name: string | null
        /** An https address */
        logoUrl: string | null
        /** `#rrggbb` */
        primaryColor: string | null
        postalAddress: string | null
        /** An https address without a path that leads to this service; null: the public address of the service */
        linkBaseUrl: string | null
      }
      softBounces: {
        /** So many soft bounces, on different messages */
        count: number
        /** within so many days, without a delivery between them */
        days: number
        /** hold an address back for so many days */
        suppressDays: number
      }
      sms: {
        /** Whether words such as STOP are obeyed; otherwise the provider does that */
        keywords: boolean
        /** What a STOP refuses */
        scope: 'all' | 'commercial'
        /** The answer to STOP; null: the built-in sentence */
        stopReply: string | null
        /** The answer to START; null: the built-in sentence */
        startReply: string | null
        /** The answer to HELP; null: the built-in sentence */
        helpReply: string | null
        extraStopWords: Array<string>
      }
      brakes: {
        enabled: boolean
        bouncePercent: number
        complaintPercent: number
        /** Not before so many emails of a workflow */
        minimum: number
        /** within so many hours */
        hours: number
      }
      /** Whether commercial mail without a link to unsubscribe gets a footer with one */
      footer: boolean
    }
  }
  /** Change the consent settings of an environment */
  'PATCH /v2/environments/{environmentId}/consent': {
    path: {
      environmentId: string
    }
    body: {
      brand?: {
        name?: string | null | undefined
        /** An https address */
        logoUrl?: string | null | undefined
        /** `#rrggbb` */
        primaryColor?: string | null | undefined
        postalAddress?: string | null | undefined
        /** An https address without a path that leads to this service; null: the public address of the service */
        linkBaseUrl?: string | null | undefined
      } | null | undefined
      softBounces?: {
        /** So many soft bounces, on different messages */
        count?: number | null | undefined
        /** within so many days, without a delivery between them */
        days?: number | null | undefined
        /** hold an address back for so many days */
        suppressDays?: number | null | undefined
      } | null | undefined
      sms?: {
        /** Whether words such as STOP are obeyed; otherwise the provider does that */
        keywords?: boolean | null | undefined
        /** What a STOP refuses */
        scope?: 'all' | 'commercial' | null | undefined
        /** The answer to STOP; null: the built-in sentence */
        stopReply?: string | null | undefined
        /** The answer to START; null: the built-in sentence */
        startReply?: string | null | undefined
        /** The answer to HELP; null: the built-in sentence */
        helpReply?: string | null | undefined
        extraStopWords?: Array<string> | null | undefined
      } | null | undefined
      brakes?: {
        enabled?: boolean | null | undefined
        bouncePercent?: number | null | undefined
        complaintPercent?: number | null | undefined
        /** Not before so many emails of a workflow */
        minimum?: number | null | undefined
        /** within so many hours */
        hours?: number | null | undefined
      } | null | undefined
      footer?: boolean | null | undefined
    }
    answer: {
      brand: {
        name: string | null
        /** An https address */
        logoUrl: string | null
        /** `#rrggbb` */
        primaryColor: string | null
        postalAddress: string | null
        /** An https address without a path that leads to this service; null: the public address of the service */
        linkBaseUrl: string | null
      }
      softBounces: {
        /** So many soft bounces, on different messages */
        count: number
        /** within so many days, without a delivery between them */
        days: number
        /** hold an address back for so many days */
        suppressDays: number
      }
      sms: {
        /** Whether words such as STOP are obeyed; otherwise the provider does that */
        keywords: boolean
        /** What a STOP refuses */
        scope: 'all' | 'commercial'
        /** The answer to STOP; null: the built-in sentence */
        stopReply: string | null
        /** The answer to START; null: the built-in sentence */
        startReply: string | null
        /** The answer to HELP; null: the built-in sentence */
        helpReply: string | null
        extraStopWords: Array<string>
      }
      brakes: {
        enabled: boolean
        bouncePercent: number
        complaintPercent: number
        /** Not before so many emails of a workflow */
        minimum: number
        /** within so many hours */
        hours: number
      }
      /** Whether commercial mail without a link to unsubscribe gets a footer with one */
      footer: boolean
    }
  }
  /** Make a link to a subscriber's page of preferences */
  'POST /v2/subscribers/{subscriberId}/preferences-link': {
    path: {
      subscriberId: string
    }
    body: {
      context?: Record<string, unknown> | undefined
      expiresInDays?: number | undefined
    }
    answer: {
      url: string
      expiresAt: string
    }
  }
  /** Retrieve the doors of an environment */
  'GET /v2/environments/{environmentId}/doors': {
    path: {
      environmentId: string
    }
    answer: {
      /** Whether API keys of other environments may publish into this one and rename or delete it, and its own keys may create environments and variables */
      openToKeys: boolean
      /** Nobody has chosen: this is the default of the brand */
      isDefault: boolean
    }
  }
  /** Open or close the doors of an environment */
  'PATCH /v2/environments/{environmentId}/doors': {
    path: {
      environmentId: string
    }
    body: {
      openToKeys?: boolean | null | undefined
    }
    answer: {
      /** Whether API keys of other environments may publish into this one and rename or delete it, and its own keys may create environments and variables */
      openToKeys: boolean
      /** Nobody has chosen: this is the default of the brand */
      isDefault: boolean
    }
  }
  /** Retrieve the protection of an environment */
  'GET /v2/environments/{environmentId}/protection': {
    path: {
      environmentId: string
    }
    answer: {
      /** Whether a publish into the environment needs the approval of a second person */
      isProtected: boolean
      /** Whether API keys are exempt: they publish and change content as their scopes allow, without approval */
      isOpenToAutomation: boolean
    }
  }
  /** Protect an environment; only an owner can turn the protection off or open it to automation */
  'PATCH /v2/environments/{environmentId}/protection': {
    path: {
      environmentId: string
    }
    body: {
      /** Whether a publish into the environment needs the approval of a second person */
      isProtected?: boolean | undefined
      /** Whether API keys are exempt: they publish and change content as their scopes allow, without approval */
      isOpenToAutomation?: boolean | undefined
    }
    answer: {
      /** Whether a publish into the environment needs the approval of a second person */
      isProtected: boolean
      /** Whether API keys are exempt: they publish and change content as their scopes allow, without approval */
      isOpenToAutomation: boolean
    }
  }
  /** List the API keys of the environment, and those of the organization */
  'GET /v2/api-keys': {
    answer: Array<{
      _id: string
      name: string
      /** The beginning of the key */
      hint: string
      scopes: Array<string>
      /** Opens every environment of the organization, and what they share */
      isOrganizationWide: boolean
      /** Kept encrypted, because public client libraries sign with it; the others are kept as hashes and sign nothing */
      isCompatible: boolean
      /** Null: from everywhere */
      allowedAddresses: Array<string> | null
      /** The id of a person */
      createdBy: string
      createdAt: string
      expiresAt: string | null
      /** Up to a minute late */
      lastUsedAt: string | null
    }>
  }
  /** Create an API key */
  'POST /v2/api-keys': {
    body: {
      name: string
      /** `administer`, `read`, `send`, `write:workflows`, `write:layouts`, `write:translations`, `write:subscribers`, `write:topics`, `write:contexts`, `write:integrations`, `write:messages`, `write:webhooks`, and `publish:<id of an environment>` */
      scopes: Array<string>
      isOrganizationWide?: boolean | undefined
      /** IP addresses and networks such as 192.0.2.0/24; null: from everywhere */
      allowedAddresses?: Array<string> | null | undefined
      expiresAt?: string | null | undefined
    }
    answer: {
      _id: string
      name: string
      /** The beginning of the key */
      hint: string
      scopes: Array<string>
      /** Opens every environment of the organization, and what they share */
      isOrganizationWide: boolean
      /** Kept encrypted, because public client libraries sign with it; the others are kept as hashes and sign nothing */
      isCompatible: boolean
      /** Null: from everywhere */
      allowedAddresses: Array<string> | null
      /** The id of a person */
      createdBy: string
      createdAt: string
      expiresAt: string | null
      /** Up to a minute late */
      lastUsedAt: string | null
      /** Shown this once */
      key: string
    }
  }
  /** Change the name, addresses or expiry of an API key */
  'PATCH /v2/api-keys/{keyId}': {
    path: {
      keyId: string
    }
    body: {
      name?: string | undefined
      /** IP addresses and networks such as 192.0.2.0/24; null: from everywhere */
      allowedAddresses?: Array<string> | null | undefined
      expiresAt?: string | null | undefined
      /** Forget the compatible key except for its hash, for ever. It signs nothing any more; the signing secrets do */
      isCompatible?: false | undefined
    }
    answer: {
      _id: string
      name: string
      /** The beginning of the key */
      hint: string
      scopes: Array<string>
      /** Opens every environment of the organization, and what they share */
      isOrganizationWide: boolean
      /** Kept encrypted, because public client libraries sign with it; the others are kept as hashes and sign nothing */
      isCompatible: boolean
      /** Null: from everywhere */
      allowedAddresses: Array<string> | null
      /** The id of a person */
      createdBy: string
      createdAt: string
      expiresAt: string | null
      /** Up to a minute late */
      lastUsedAt: string | null
    }
  }
  /** Revoke an API key; it is refused at once */
  'DELETE /v2/api-keys/{keyId}': {
    path: {
      keyId: string
    }
    answer: undefined
  }
  /** List the signing secrets of the environment */
  'GET /v2/signing-secrets': {
    answer: Array<{
      /** `inbox`: hashes of subscribers and contexts; `bridge`: calls to your code; `replies`: callbacks for answered emails; `requests`: HTTP request steps and webhooks of filters */
      purpose: 'inbox' | 'bridge' | 'replies' | 'requests'
      /** Whether it has secrets of its own; otherwise the compatible API key signs */
      isApart: boolean
      /** The newest first */
      secrets: Array<{
        secret: string
        createdAt: string
        /** Set once it has been replaced */
        expiresAt: string | null
      }>
    }>
  }
  /** Add a signing secret; the one before stays valid for a while */
  'POST /v2/signing-secrets/{purpose}/rotate': {
    path: {
      purpose: 'inbox' | 'bridge' | 'replies' | 'requests'
    }
    body: {
      /** 0: no overlap */
      overlapHours?: number | undefined
    }
    answer: {
      purpose: 'inbox' | 'bridge' | 'replies' | 'requests'
      secret: string
      createdAt: string
      /** Set once it has been replaced */
      expiresAt: string | null
    }
  }
  /** Retrieve what browsers of subscribers may do */
  'GET /v2/environments/{environmentId}/inbox-access': {
    path: {
      environmentId: string
    }
    answer: {
      /** Whether browsers may join every topic, and create topics. Otherwise only topics with joinableFromBrowser. Null: as usual */
      openTopics: boolean | null
      /** The profile fields that a page may give for its subscriber; others are ignored. Null: as usual */
      profileFields: Array<string> | null
      /** What applies where nothing is chosen */
      usual: {
        openTopics: boolean
        profileFields: Array<string>
      }
      /** Whether the in-app integration requires a hash of the subscriber id */
      requiresHash: boolean
      /** When a page last opened an inbox here. Null: none has connected yet */
      connection: {
        at: string
        /** Of the page, if the browser said */
        origin: string | null
      } | null
    }
  }
  /** Change what browsers of subscribers may do */
  'PATCH /v2/environments/{environmentId}/inbox-access': {
    path: {
      environmentId: string
    }
    body: {
      /** Whether browsers may join every topic, and create topics. Otherwise only topics with joinableFromBrowser */
      openTopics?: boolean | null | undefined
      /** The profile fields that a page may give for its subscriber; others are ignored */
      profileFields?: Array<'firstName' | 'lastName' | 'email' | 'phone' | 'avatar' | 'locale' | 'timezone' | 'data'> | null | undefined
    }
    answer: {
      /** Whether browsers may join every topic, and create topics. Otherwise only topics with joinableFromBrowser. Null: as usual */
      openTopics: boolean | null
      /** The profile fields that a page may give for its subscriber; others are ignored. Null: as usual */
      profileFields: Array<string> | null
      /** What applies where nothing is chosen */
      usual: {
        openTopics: boolean
        profileFields: Array<string>
      }
      /** Whether the in-app integration requires a hash of the subscriber id */
      requiresHash: boolean
      /** When a page last opened an inbox here. Null: none has connected yet */
      connection: {
        at: string
        /** Of the page, if the browser said */
        origin: string | null
      } | null
    }
  }
  /** Whose inbox the dashboard shows as a preview */
  'POST /v2/environments/{environmentId}/inbox-preview': {
    path: {
      environmentId: string
    }
    body: Record<string, never>
    answer: {
      subscriberId: string
      subscriberHash: string
    }
  }
  /** End all inbox sessions of an environment */
  'DELETE /v2/environments/{environmentId}/inbox-sessions': {
    path: {
      environmentId: string
    }
    answer: undefined
  }
  /** End all inbox sessions of all environments of the organization */
  'DELETE /v1/auth/inbox-sessions': {
    answer: undefined
  }
  /** End all inbox sessions of a subscriber */
  'DELETE /v2/subscribers/{subscriberId}/inbox-sessions': {
    path: {
      subscriberId: string
    }
    answer: undefined
  }
  /** List the environment variables of the organization */
  'GET /v1/environment-variables': {
    query?: {
      /** Part of the key, case-insensitive */
      search?: string | undefined
    }
    answer: Array<{
      _id: string
      _organizationId: string
      key: string
      type: 'string'
      isSecret: boolean
      values: Array<{
        _environmentId: string
        value: string
      }>
      createdAt: string
      updatedAt: string
    }>
  }
  /** Create an environment variable */
  'POST /v1/environment-variables': {
    body: {
      key: string
      type?: 'string' | undefined
      isSecret?: boolean | undefined
      values?: Array<{
        _environmentId: string
        value: string
      }> | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      key: string
      type: 'string'
      isSecret: boolean
      values: Array<{
        _environmentId: string
        value: string
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve an environment variable */
  'GET /v1/environment-variables/{variableKey}': {
    path: {
      variableKey: string
    }
    answer: {
      _id: string
      _organizationId: string
      key: string
      type: 'string'
      isSecret: boolean
      values: Array<{
        _environmentId: string
        value: string
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Change the given fields of an environment variable; values of other environments stay */
  'PATCH /v1/environment-variables/{variableKey}': {
    path: {
      variableKey: string
    }
    body: {
      key?: string | undefined
      type?: 'string' | undefined
      isSecret?: boolean | undefined
      values?: Array<{
        _environmentId: string
        value: string
      }> | undefined
    }
    answer: {
      _id: string
      _organizationId: string
      key: string
      type: 'string'
      isSecret: boolean
      values: Array<{
        _environmentId: string
        value: string
      }>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete an environment variable */
  'DELETE /v1/environment-variables/{variableKey}': {
    path: {
      variableKey: string
    }
    answer: undefined
  }
  /** List the workflows whose steps use an environment variable */
  'GET /v1/environment-variables/{variableKey}/usage': {
    path: {
      variableKey: string
    }
    answer: {
      workflows: Array<{
        name: string
        workflowId: string
      }>
    }
  }
  /** List topics */
  'GET /v2/topics': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** Part of the key, case-insensitive */
      key?: string | undefined
      /** Part of the name, case-insensitive */
      name?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        key: string
        name?: string | undefined
        /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
        joinableFromBrowser: boolean
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Create or change a topic */
  'POST /v2/topics': {
    query?: {
      /** Do not change an existing topic; answer 409 */
      failIfExists?: boolean | undefined
    }
    body: {
      key: string
      name?: string | undefined
      /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
      joinableFromBrowser?: boolean | undefined
    }
    answer: {
      _id: string
      key: string
      name?: string | undefined
      /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
      joinableFromBrowser: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve a topic */
  'GET /v2/topics/{topicKey}': {
    path: {
      topicKey: string
    }
    answer: {
      _id: string
      key: string
      name?: string | undefined
      /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
      joinableFromBrowser: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Rename a topic, or open or close it for browsers */
  'PATCH /v2/topics/{topicKey}': {
    path: {
      topicKey: string
    }
    body: {
      name?: string | undefined
      /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
      joinableFromBrowser?: boolean | undefined
    }
    answer: {
      _id: string
      key: string
      name?: string | undefined
      /** Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes */
      joinableFromBrowser: boolean
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete a topic with its subscriptions */
  'DELETE /v2/topics/{topicKey}': {
    path: {
      topicKey: string
    }
    answer: {
      acknowledged: boolean
    }
  }
  /** Subscribe to a topic, which is created if missing */
  'POST /v2/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    body: {
      subscriptions?: Array<string | {
        subscriberId: string
        /** Unique in the environment; default: generated */
        identifier?: string | undefined
        name?: string | undefined
      }> | undefined
      subscriberIds?: Array<string> | undefined
      name?: string | undefined
      context?: Record<string, unknown> | undefined
      preferences?: Array<string | {
        /** Its identifier or its id */
        workflowId?: string | undefined
        /** Every workflow with one of these ids or tags */
        filter?: {
          workflowIds?: Array<string> | undefined
          tags?: Array<string> | undefined
        } | undefined
        /** The workflow's default when absent */
        enabled?: boolean | undefined
        /** JSON Logic over the payload; replaces `enabled` */
        condition?: Record<string, unknown> | null | undefined
      }> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        identifier: string
        topic: {
          _id: string
          key: string
          name?: string | undefined
          createdAt: string
          updatedAt: string
        }
        subscriber: {
          _id: string
          subscriberId: string
          avatar?: string | null | undefined
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          createdAt?: string | undefined
          updatedAt?: string | undefined
        } | null
        contextKeys: Array<string>
        createdAt: string
        updatedAt: string
        name?: string | undefined
        preferences: Array<{
          /** The subscription's identifier */
          subscriptionId: string
          workflow: {
            id: string
            identifier: string
            name: string
            critical: boolean
            tags: Array<string>
            data?: Record<string, unknown> | undefined
            severity: string
          }
          enabled: boolean
          condition?: Record<string, unknown> | undefined
        }>
      }>
      meta: {
        totalCount: number
        successful: number
        failed: number
      }
      errors?: Array<{
        subscriberId: string
        code: string
        message: string
      }> | undefined
    }
  }
  /** List the subscriptions of a topic */
  'GET /v2/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** The exact subscriber id */
      subscriberId?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        identifier: string
        topic: {
          _id: string
          key: string
          name?: string | undefined
          createdAt: string
          updatedAt: string
        }
        subscriber: {
          _id: string
          subscriberId: string
          avatar?: string | null | undefined
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          createdAt?: string | undefined
          updatedAt?: string | undefined
        }
        contextKeys: Array<string>
        createdAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Unsubscribe from a topic */
  'DELETE /v2/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    body: {
      subscriptions?: Array<string | {
        subscriberId?: string | undefined
        identifier?: string | undefined
      }> | undefined
      subscriberIds?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        identifier: string
        topic: {
          _id: string
          key: string
          name?: string | undefined
          createdAt: string
          updatedAt: string
        }
        subscriber: {
          _id: string
          subscriberId: string
          avatar?: string | null | undefined
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          createdAt?: string | undefined
          updatedAt?: string | undefined
        } | null
        contextKeys: Array<string>
        createdAt: string
        updatedAt: string
      }>
      meta: {
        totalCount: number
        successful: number
        failed: number
      }
      errors?: Array<{
        subscriberId: string
        code: string
        message: string
      }> | undefined
    }
  }
  /** Retrieve a subscription */
  'GET /v2/topics/{topicKey}/subscriptions/{identifier}': {
    path: {
      topicKey: string
      identifier: string
    }
    answer: {
      id: string
      identifier: string
      name?: string | undefined
      preferences: Array<{
        /** The subscription's identifier */
        subscriptionId: string
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        }
        enabled: boolean
        condition?: Record<string, unknown> | undefined
      }>
      contextKeys: Array<string>
    }
  }
  /** Change the name of a subscription, or replace its preferences */
  'PATCH /v2/topics/{topicKey}/subscriptions/{identifier}': {
    path: {
      topicKey: string
      identifier: string
    }
    body: {
      name?: string | undefined
      preferences?: Array<string | {
        /** Its identifier or its id */
        workflowId?: string | undefined
        /** Every workflow with one of these ids or tags */
        filter?: {
          workflowIds?: Array<string> | undefined
          tags?: Array<string> | undefined
        } | undefined
        /** The workflow's default when absent */
        enabled?: boolean | undefined
        /** JSON Logic over the payload; replaces `enabled` */
        condition?: Record<string, unknown> | null | undefined
      }> | undefined
    }
    answer: {
      _id: string
      identifier: string
      topic: {
        _id: string
        key: string
        name?: string | undefined
        createdAt: string
        updatedAt: string
      }
      subscriber: {
        _id: string
        subscriberId: string
        avatar?: string | null | undefined
        firstName?: string | null | undefined
        lastName?: string | null | undefined
        email?: string | null | undefined
        createdAt?: string | undefined
        updatedAt?: string | undefined
      } | null
      contextKeys: Array<string>
      createdAt: string
      updatedAt: string
      name?: string | undefined
      preferences: Array<{
        /** The subscription's identifier */
        subscriptionId: string
        workflow: {
          id: string
          identifier: string
          name: string
          critical: boolean
          tags: Array<string>
          data?: Record<string, unknown> | undefined
          severity: string
        }
        enabled: boolean
        condition?: Record<string, unknown> | undefined
      }>
    }
  }
  /** List the subscriptions of a subscriber */
  'GET /v2/subscribers/{subscriberId}/subscriptions': {
    path: {
      subscriberId: string
    }
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** The exact topic key */
      key?: string | undefined
      /** Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context */
      contextKeys?: Array<string> | undefined
    }
    answer: {
      data: Array<{
        _id: string
        identifier: string
        topic: {
          _id: string
          key: string
          name?: string | undefined
          createdAt: string
          updatedAt: string
        }
        subscriber: {
          _id: string
          subscriberId: string
          avatar?: string | null | undefined
          firstName?: string | null | undefined
          lastName?: string | null | undefined
          email?: string | null | undefined
          createdAt?: string | undefined
          updatedAt?: string | undefined
        }
        contextKeys: Array<string>
        createdAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Check whether a subscriber is in a topic */
  'GET /v1/topics/{topicKey}/subscribers/{externalSubscriberId}': {
    path: {
      topicKey: string
      externalSubscriberId: string
    }
    answer: {
      _organizationId: string
      _environmentId: string
      _subscriberId: string
      _topicId: string
      topicKey: string
      externalSubscriberId: string
    }
  }
  /** Create a workflow */
  'POST /v2/workflows': {
    query?: {
      /** If the identifier is taken: `error` answers 409 `workflow_exists`, `update` replaces that workflow, where absent fields get their defaults */
      onConflict?: 'error' | 'update' | undefined
    }
    body: {
      name: string
      workflowId: string
      steps: Array<{
        /** The id of an existing step, which keeps its `stepId` */
        _id?: string | null | undefined
        stepId?: string | null | undefined
        name: string
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request' | 'branch' | 'exit' | 'wait_for_event' | 'start_workflow' | 'update_subscriber' | 'ask'
        controlValues?: Record<string, unknown> | null | undefined
        /** False leaves it out of future runs */
        active?: boolean | null | undefined
        /** Whether its failure ends the run */
        shouldStopOnFail?: boolean | null | undefined
        /** After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration */
        onUnknown?: 'retry' | 'hold' | null | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | null | undefined
        /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
        filters?: Array<unknown> | null | undefined
        variants?: Array<{
          _id?: string | null | undefined
          name?: string | null | undefined
          active?: boolean | null | undefined
          /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
          filters: Array<unknown>
          controlValues?: Record<string, unknown> | null | undefined
        }> | null | undefined
      }>
      description?: string | null | undefined
      tags?: Array<string> | null | undefined
      active?: boolean | null | undefined
      validatePayload?: boolean | null | undefined
      payloadSchema?: Record<string, unknown> | null | undefined
      isTranslationEnabled?: boolean | null | undefined
      severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
      /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
      messageClass?: 'transactional' | 'commercial' | null | undefined
      /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
      consentCategory?: string | null | undefined
      /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
      tracking?: {
        /** Whether emails have an image that tells when they are opened */
        opens?: boolean | null | undefined
        /** Whether links in emails lead through this service, which counts clicks */
        clicks?: boolean | null | undefined
      } | null | undefined
      /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
      journey?: {
        /** A template over `payload` and `context`: what runs can be cancelled by */
        cancellationKey?: string | null | undefined
        /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
        quietHours?: 'skip' | 'hold' | null | undefined
        goals?: Array<{
          name: string
          /** What it waits for, written as that of a step `wait_for_event` */
          for?: Array<Record<string, unknown>> | undefined
          /** Asked of what `for` finds; without `for`, before each step */
          condition?: Record<string, unknown> | undefined
        }> | null | undefined
        /** Its messages neither count in caps nor are held back by them */
        exemptFromCaps?: boolean | null | undefined
      } | null | undefined
      preferences?: {
        user?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
        workflow?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
        /** The same as `workflow`, as answers say it; counts only if `workflow` is absent */
        default?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
      } | null | undefined
      /** Where it is created; ignored */
      __source?: 'template_store' | 'editor' | 'notification_directory' | 'onboarding_digest_demo' | 'onboarding_in_app' | 'empty_state' | 'dropdown' | 'onboarding_get_started' | 'bridge' | 'dashboard' | 'ai' | null | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** List workflows, without the content of their steps */
  'GET /v2/workflows': {
    query?: {
      limit?: number | undefined
      offset?: number | undefined
      orderBy?: 'createdAt' | 'updatedAt' | 'name' | 'lastTriggeredAt' | undefined
      orderDirection?: 'ASC' | 'DESC' | undefined
      /** Part of the name or identifier, case-insensitive */
      query?: string | undefined
      /** Any of these */
      tags?: Array<string> | undefined
      /** Any of these */
      status?: Array<'ACTIVE' | 'INACTIVE' | 'ERROR'> | undefined
    }
    answer: {
      workflows: Array<{
        _id: string
        workflowId: string
        slug: string
        name: string
        origin: string
        tags: Array<string>
        status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
        createdAt: string
        updatedAt: string
        updatedBy?: {
          _id: string
        } | undefined
        /** Empty if never published */
        lastPublishedAt: string
        lastPublishedBy?: {
          _id: string
        } | undefined
        lastTriggeredAt?: string | undefined
        isTranslationEnabled: boolean
        messageClass: 'transactional' | 'commercial'
        consentCategory: string | null
        tracking: {
          opens: boolean
          clicks: boolean
        }
        /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
        brake: {
          since: string
          cause: 'bounces' | 'complaints'
          /** `counted` of `sent` */
          percent: number
          sent: number
          counted: number
        } | null
        stepTypeOverviews: Array<string>
        steps: Array<{
          slug: string
          type: string
          kind?: string | undefined
          issues?: {
            controls?: Record<string, Array<{
              issueType: string
              variableName?: string | undefined
              message: string
            }>> | undefined
            integration?: Record<string, Array<{
              issueType: string
              variableName?: string | undefined
              message: string
            }>> | undefined
          } | undefined
        }>
      }>
      totalCount: number
    }
  }
  /** Retrieve a workflow */
  'GET /v2/workflows/{workflowId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    query?: {
      /** Internal id of another environment of the key's organization */
      environmentId?: string | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Replace a workflow */
  'PUT /v2/workflows/{workflowId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    query?: {
      /** Make it with exactly this identifier if there is none (201). With the header `If-None-Match: *` it is only made, never replaced */
      upsert?: boolean | undefined
    }
    body: {
      name: string
      steps: Array<{
        /** The id of an existing step, which keeps its `stepId` */
        _id?: string | null | undefined
        stepId?: string | null | undefined
        name: string
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request' | 'branch' | 'exit' | 'wait_for_event' | 'start_workflow' | 'update_subscriber' | 'ask'
        controlValues?: Record<string, unknown> | null | undefined
        /** False leaves it out of future runs */
        active?: boolean | null | undefined
        /** Whether its failure ends the run */
        shouldStopOnFail?: boolean | null | undefined
        /** After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration */
        onUnknown?: 'retry' | 'hold' | null | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | null | undefined
        /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
        filters?: Array<unknown> | null | undefined
        variants?: Array<{
          _id?: string | null | undefined
          name?: string | null | undefined
          active?: boolean | null | undefined
          /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
          filters: Array<unknown>
          controlValues?: Record<string, unknown> | null | undefined
        }> | null | undefined
      }>
      /** Required, except with `upsert` */
      preferences?: {
        user?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
        workflow?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
        /** The same as `workflow`, as answers say it; counts only if `workflow` is absent */
        default?: {
          all?: {
            enabled?: boolean | undefined
            readOnly?: boolean | undefined
          } | null | undefined
          channels?: {
            email?: {
              enabled?: boolean | undefined
            } | null | undefined
            sms?: {
              enabled?: boolean | undefined
            } | null | undefined
            in_app?: {
              enabled?: boolean | undefined
            } | null | undefined
            chat?: {
              enabled?: boolean | undefined
            } | null | undefined
            push?: {
              enabled?: boolean | undefined
            } | null | undefined
          } | null | undefined
        } | null | undefined
      } | undefined
      /** Required, except with `upsert`. Ignored: a workflow keeps its origin */
      origin?: 'svc-cloud' | 'svc-cloud-v1' | 'external' | undefined
      /** Applied to code-first workflows only. With `upsert` it must be the one in the path */
      workflowId?: string | null | undefined
      description?: string | null | undefined
      tags?: Array<string> | null | undefined
      active?: boolean | null | undefined
      validatePayload?: boolean | null | undefined
      payloadSchema?: Record<string, unknown> | null | undefined
      isTranslationEnabled?: boolean | null | undefined
      severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
      /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
      messageClass?: 'transactional' | 'commercial' | null | undefined
      /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
      consentCategory?: string | null | undefined
      /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
      tracking?: {
        /** Whether emails have an image that tells when they are opened */
        opens?: boolean | null | undefined
        /** Whether links in emails lead through this service, which counts clicks */
        clicks?: boolean | null | undefined
      } | null | undefined
      /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
      journey?: {
        /** A template over `payload` and `context`: what runs can be cancelled by */
        cancellationKey?: string | null | undefined
        /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
        quietHours?: 'skip' | 'hold' | null | undefined
        goals?: Array<{
          name: string
          /** What it waits for, written as that of a step `wait_for_event` */
          for?: Array<Record<string, unknown>> | undefined
          /** Asked of what `for` finds; without `for`, before each step */
          condition?: Record<string, unknown> | undefined
        }> | null | undefined
        /** Its messages neither count in caps nor are held back by them */
        exemptFromCaps?: boolean | null | undefined
      } | null | undefined
      /** The `version` on which the change is based. If another one is stored, the answer is 409 `workflow_changed` with the stored workflow, and nothing is saved. Without it, the last save wins */
      baseVersion?: number | null | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Change the given fields of a workflow; null changes nothing but `messageClass`, `consentCategory`, `tracking` and `journey` */
  'PATCH /v2/workflows/{workflowId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      active?: boolean | null | undefined
      name?: string | null | undefined
      description?: string | null | undefined
      tags?: Array<string> | null | undefined
      payloadSchema?: Record<string, unknown> | null | undefined
      validatePayload?: boolean | null | undefined
      isTranslationEnabled?: boolean | null | undefined
      /** Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional` */
      messageClass?: 'transactional' | 'commercial' | null | undefined
      /** Workflows of one category are unsubscribed together. Left out it stays as it is; null: none */
      consentCategory?: string | null | undefined
      /** What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing */
      tracking?: {
        /** Whether emails have an image that tells when they are opened */
        opens?: boolean | null | undefined
        /** Whether links in emails lead through this service, which counts clicks */
        clicks?: boolean | null | undefined
      } | null | undefined
      /** What concerns its runs as a whole. Left out it stays as it is; null: nothing */
      journey?: {
        /** A template over `payload` and `context`: what runs can be cancelled by */
        cancellationKey?: string | null | undefined
        /** What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say */
        quietHours?: 'skip' | 'hold' | null | undefined
        goals?: Array<{
          name: string
          /** What it waits for, written as that of a step `wait_for_event` */
          for?: Array<Record<string, unknown>> | undefined
          /** Asked of what `for` finds; without `for`, before each step */
          condition?: Record<string, unknown> | undefined
        }> | null | undefined
        /** Its messages neither count in caps nor are held back by them */
        exemptFromCaps?: boolean | null | undefined
      } | null | undefined
      /** The `version` on which the change is based. If another one is stored, the answer is 409 `workflow_changed` with the stored workflow, and nothing is saved. Without it, the last save wins */
      baseVersion?: number | null | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Delete a workflow with its translations and all preferences for it */
  'DELETE /v2/workflows/{workflowId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    answer: undefined
  }
  /** Copy a workflow; the copy is inactive */
  'POST /v2/workflows/{workflowId}/duplicate': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      name?: string | null | undefined
      workflowId?: string | null | undefined
      tags?: Array<string> | null | undefined
      description?: string | null | undefined
      isTranslationEnabled?: boolean | null | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Retrieve a step of a workflow */
  'GET /v2/workflows/{workflowId}/steps/{stepId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      /** `stepId`, slug or internal id */
      stepId: string
    }
    answer: {
      controls: {
        dataSchema?: Record<string, unknown> | undefined
        uiSchema?: Record<string, unknown> | undefined
        values: Record<string, unknown>
      }
      controlValues: Record<string, unknown>
      variables: Record<string, unknown>
      stepId: string
      _id: string
      name: string
      slug: string
      type: string
      /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
      kind?: string | undefined
      origin: string
      workflowId: string
      workflowDatabaseId: string
      active?: boolean | undefined
      shouldStopOnFail?: boolean | undefined
      onUnknown?: 'retry' | 'hold' | undefined
      /** Where replies to its emails go */
      replyCallback?: {
        active?: boolean | undefined
        url?: string | undefined
      } | undefined
      filters?: Array<{
        isNegated: boolean
        type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
        value: 'AND' | 'OR'
        children: Array<{
          field?: string | undefined
          value?: unknown | undefined
          operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
          on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
          webhookUrl?: string | undefined
          timeOperator?: 'minutes' | 'hours' | 'days' | undefined
          step?: string | undefined
          stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
        }>
      }> | undefined
      variants?: Array<{
        _id: string
        name?: string | undefined
        active?: boolean | undefined
        filters: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }>
        controlValues: Record<string, unknown>
      }> | undefined
      issues?: {
        controls?: Record<string, Array<{
          issueType: string
          variableName?: string | undefined
          message: string
        }>> | undefined
        integration?: Record<string, Array<{
          issueType: string
          variableName?: string | undefined
          message: string
        }>> | undefined
      } | undefined
    }
  }
  /** Describe the recipient and payload of a trigger, as JSON Schemas */
  'GET /v2/workflows/{workflowId}/test-data': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    answer: {
      to: Record<string, unknown>
      payload: Record<string, unknown>
    }
  }
  /** Show the emails that count for the brake of a workflow */
  'GET /v2/workflows/{workflowId}/brake': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    answer: {
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      data: Array<{
        messageId: string
        cause: 'bounces' | 'complaints'
        sentAt: string
        /** Null once the message is deleted */
        address: string | null
        subscriberId: string | null
        transactionId: string | null
        notificationId: string | null
        /** What the mail server said */
        error: string | null
      }>
    }
  }
  /** Release the brake of a workflow: it sends email again, and counts begin anew */
  'POST /v2/workflows/{workflowId}/release-brake': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Say that you have a workflow open; the answer names who else has, and a newer version */
  'PUT /v2/workflows/{workflowId}/presence': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      /** The version that the page shows */
      version?: number | undefined
    }
    answer: {
      others: Array<{
        _id: string
        name: string
      }>
      newer?: {
        version: number
        savedAt: string
        savedBy: {
          _id: string | null
          /** Null if the account is gone */
          name: string | null
        }
        workflow: {
          _id: string
          workflowId: string
          slug: string
          name: string
          description: string
          tags: Array<string>
          active: boolean
          validatePayload: boolean
          payloadSchema: Record<string, unknown> | null
          payloadExample?: Record<string, unknown> | undefined
          isTranslationEnabled: boolean
          severity: 'high' | 'medium' | 'low' | 'none'
          messageClass: 'transactional' | 'commercial'
          consentCategory: string | null
          tracking: {
            opens: boolean
            clicks: boolean
          }
          /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
          brake: {
            since: string
            cause: 'bounces' | 'complaints'
            /** `counted` of `sent` */
            percent: number
            sent: number
            counted: number
          } | null
          journey?: {
            cancellationKey?: string | undefined
            quietHours?: 'skip' | 'hold' | undefined
            exemptFromCaps?: boolean | undefined
            goals?: Array<{
              name: string
              for?: Array<Record<string, unknown>> | undefined
              condition?: Record<string, unknown> | undefined
            }> | undefined
          } | undefined
          origin: string
          status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
          /** Always empty: each step has its own issues */
          issues: Record<string, unknown>
          preferences: {
            user: {
              all: {
                enabled: boolean
                readOnly: boolean
              }
              channels: {
                email: {
                  enabled: boolean
                }
                sms: {
                  enabled: boolean
                }
                in_app: {
                  enabled: boolean
                }
                chat: {
                  enabled: boolean
                }
                push: {
                  enabled: boolean
                }
              }
            } | null
            default: {
              all: {
                enabled: boolean
                readOnly: boolean
              }
              channels: {
                email: {
                  enabled: boolean
                }
                sms: {
                  enabled: boolean
                }
                in_app: {
                  enabled: boolean
                }
                chat: {
                  enabled: boolean
                }
                push: {
                  enabled: boolean
                }
              }
            }
          }
          steps: Array<{
            controls: {
              dataSchema?: Record<string, unknown> | undefined
              uiSchema?: Record<string, unknown> | undefined
              values: Record<string, unknown>
            }
            controlValues: Record<string, unknown>
            variables: Record<string, unknown>
            stepId: string
            _id: string
            name: string
            slug: string
            type: string
            /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
            kind?: string | undefined
            origin: string
            workflowId: string
            workflowDatabaseId: string
            active?: boolean | undefined
            shouldStopOnFail?: boolean | undefined
            onUnknown?: 'retry' | 'hold' | undefined
            /** Where replies to its emails go */
            replyCallback?: {
              active?: boolean | undefined
              url?: string | undefined
            } | undefined
            filters?: Array<{
              isNegated: boolean
              type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
              value: 'AND' | 'OR'
              children: Array<{
                field?: string | undefined
                value?: unknown | undefined
                operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
                on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
                webhookUrl?: string | undefined
                timeOperator?: 'minutes' | 'hours' | 'days' | undefined
                step?: string | undefined
                stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
              }>
            }> | undefined
            variants?: Array<{
              _id: string
              name?: string | undefined
              active?: boolean | undefined
              filters: Array<{
                isNegated: boolean
                type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
                value: 'AND' | 'OR'
                children: Array<{
                  field?: string | undefined
                  value?: unknown | undefined
                  operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
                  on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
                  webhookUrl?: string | undefined
                  timeOperator?: 'minutes' | 'hours' | 'days' | undefined
                  step?: string | undefined
                  stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
                }>
              }>
              controlValues: Record<string, unknown>
            }> | undefined
            issues?: {
              controls?: Record<string, Array<{
                issueType: string
                variableName?: string | undefined
                message: string
              }>> | undefined
              integration?: Record<string, Array<{
                issueType: string
                variableName?: string | undefined
                message: string
              }>> | undefined
            } | undefined
          }>
          createdAt: string
          updatedAt: string
          updatedBy?: {
            _id: string
          } | undefined
          lastPublishedAt: string | null
          lastPublishedBy?: {
            _id: string
          } | undefined
          lastTriggeredAt: string | null
          /** Every save that changes something makes the next one */
          version: number
          /** SHA-256 of the definition; the same definition has the same revision in every environment */
          revision: string
          /** Where it is kept in files; absent if they did not push it */
          files?: {
            repository: string | null
            commit: string | null
            path: string | null
            url: string | null
            pushedAt: string
            /** What files last pushed */
            revision: string
            /** Whether something else changed it since */
            drifted: boolean
          } | undefined
        }
      } | undefined
    }
  }
  /** Publish a workflow into another environment of the organization */
  'PUT /v2/workflows/{workflowId}/sync': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      /** Its internal id */
      targetEnvironmentId: string
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Create a layout; at first it only shows the content of the email */
  'POST /v2/layouts': {
    body: {
      layoutId: string
      name: string
      isTranslationEnabled?: boolean | undefined
      /** Where it is created; ignored */
      __source?: string | undefined
    }
    answer: {
      _id: string
      layoutId: string
      slug: string
      name: string
      isDefault: boolean
      isTranslationEnabled: boolean
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      createdAt: string
      origin: string
      type: 'BRIDGE'
      variables?: Record<string, unknown> | undefined
      controls: {
        dataSchema: Record<string, unknown>
        uiSchema: Record<string, unknown>
        values: {
          email?: {
            body: string
            editorType: 'block' | 'html'
          } | undefined
        }
      }
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
      revision?: string | undefined
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** List layouts, without their content */
  'GET /v2/layouts': {
    query?: {
      limit?: number | undefined
      offset?: number | undefined
      orderBy?: 'createdAt' | 'updatedAt' | 'name' | undefined
      orderDirection?: 'ASC' | 'DESC' | undefined
      /** Part of the name or identifier, case-insensitive */
      query?: string | undefined
    }
    answer: {
      layouts: Array<{
        _id: string
        layoutId: string
        slug: string
        name: string
        isDefault: boolean
        isTranslationEnabled: boolean
        updatedAt: string
        updatedBy?: {
          _id: string
        } | undefined
        createdAt: string
        origin: string
        type: 'BRIDGE'
        variables?: Record<string, unknown> | undefined
        controls: {
          dataSchema: Record<string, unknown>
          uiSchema: Record<string, unknown>
          values: {
            email?: {
              body: string
              editorType: 'block' | 'html'
            } | undefined
          }
        }
        /** Every save that changes something makes the next one */
        version: number
        /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
        revision?: string | undefined
        /** Where it is kept in files; absent if they did not push it */
        files?: {
          repository: string | null
          commit: string | null
          path: string | null
          url: string | null
          pushedAt: string
          /** What files last pushed */
          revision: string
          /** Whether something else changed it since */
          drifted: boolean
        } | undefined
      }>
      totalCount: number
    }
  }
  /** Retrieve a layout */
  'GET /v2/layouts/{layoutId}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    answer: {
      _id: string
      layoutId: string
      slug: string
      name: string
      isDefault: boolean
      isTranslationEnabled: boolean
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      createdAt: string
      origin: string
      type: 'BRIDGE'
      variables?: Record<string, unknown> | undefined
      controls: {
        dataSchema: Record<string, unknown>
        uiSchema: Record<string, unknown>
        values: {
          email?: {
            body: string
            editorType: 'block' | 'html'
          } | undefined
        }
      }
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
      revision?: string | undefined
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Change a layout: its name and, if given, its content and whether it is translated */
  'PUT /v2/layouts/{layoutId}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    query?: {
      /** Make it with exactly this identifier if there is none (201). With the header `If-None-Match: *` it is only made, never changed */
      upsert?: boolean | undefined
    }
    body: {
      name: string
      /** With `upsert` it must be the one in the path; ignored otherwise */
      layoutId?: string | null | undefined
      isTranslationEnabled?: boolean | undefined
      controlValues?: {
        email?: {
          body: string
          editorType?: 'block' | 'html' | undefined
        } | undefined
      } | null | undefined
    }
    answer: {
      _id: string
      layoutId: string
      slug: string
      name: string
      isDefault: boolean
      isTranslationEnabled: boolean
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      createdAt: string
      origin: string
      type: 'BRIDGE'
      variables?: Record<string, unknown> | undefined
      controls: {
        dataSchema: Record<string, unknown>
        uiSchema: Record<string, unknown>
        values: {
          email?: {
            body: string
            editorType: 'block' | 'html'
          } | undefined
        }
      }
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
      revision?: string | undefined
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Delete a layout; emails that used it get the default layout */
  'DELETE /v2/layouts/{layoutId}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    answer: undefined
  }
  /** Make a layout the default for emails that name none, from the next message on */
  'POST /v1/layouts/{layoutId}/default': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    answer: undefined
  }
  /** Create a layout with the content of another */
  'POST /v2/layouts/{layoutId}/duplicate': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    body: {
      name: string
      /** Default: made from the name */
      layoutId?: string | undefined
      /** Default: as the original; its translations are copied */
      isTranslationEnabled?: boolean | undefined
    }
    answer: {
      _id: string
      layoutId: string
      slug: string
      name: string
      isDefault: boolean
      isTranslationEnabled: boolean
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      createdAt: string
      origin: string
      type: 'BRIDGE'
      variables?: Record<string, unknown> | undefined
      controls: {
        dataSchema: Record<string, unknown>
        uiSchema: Record<string, unknown>
        values: {
          email?: {
            body: string
            editorType: 'block' | 'html'
          } | undefined
        }
      }
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
      revision?: string | undefined
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** Show a layout around a placeholder for the content of the email */
  'POST /v2/layouts/{layoutId}/preview': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    body: {
      /** Shown instead of the stored content */
      controlValues?: Record<string, unknown> | undefined
      previewPayload?: {
        subscriber?: Record<string, unknown> | undefined
        context?: Record<string, unknown> | undefined
      } | undefined
    }
    answer: {
      result: {
        type: 'email'
        preview?: {
          body: string
        } | undefined
        /** Why there is no preview */
        error?: {
          title: string
          message: string
          hint: string
        } | undefined
      }
      previewPayloadExample: Record<string, unknown>
      schema: Record<string, unknown> | null
    }
  }
  /** List the workflows with an email that uses the layout */
  'GET /v2/layouts/{layoutId}/usage': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    answer: {
      workflows: Array<{
        name: string
        workflowId: string
      }>
    }
  }
  /** Replace the texts of a workflow or layout in one locale */
  'POST /v2/translations': {
    body: {
      /** Identifier, slug or internal id of the workflow or layout */
      resourceId: string
      resourceType: 'workflow' | 'layout'
      locale: string
      content: Record<string, unknown>
    }
    answer: {
      resourceId: string
      resourceType: 'workflow' | 'layout'
      locale: string
      content: Record<string, unknown>
      createdAt: string
      updatedAt: string
    }
  }
  /** List translated workflows and layouts, last changed first */
  'GET /v2/translations/list': {
    query?: {
      /** Part of the name or identifier, case-insensitive */
      query?: string | undefined
      limit?: number | undefined
      offset?: number | undefined
    }
    answer: {
      data: Array<{
        resourceId: string
        resourceType: 'workflow' | 'layout'
        resourceName: string
        locales: Array<string>
        /** Target locales whose keys differ from the default locale, or that are older; absent when there are none */
        outdatedLocales?: Array<string> | undefined
        createdAt: string
        updatedAt: string
      }>
      total: number
      limit: number
      offset: number
    }
  }
  /** Retrieve the locales of a workflow or layout */
  'GET /v2/translations/group/{resourceType}/{resourceId}': {
    path: {
      resourceType: 'workflow' | 'layout'
      resourceId: string
    }
    answer: {
      resourceId: string
      resourceType: 'workflow' | 'layout'
      resourceName: string
      locales: Array<string>
      /** Target locales whose keys differ from the default locale, or that are older; absent when there are none */
      outdatedLocales?: Array<string> | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** Retrieve the texts of a workflow or layout in one locale */
  'GET /v2/translations/{resourceType}/{resourceId}/{locale}': {
    path: {
      resourceType: 'workflow' | 'layout'
      resourceId: string
      locale: string
    }
    answer: {
      resourceId: string
      resourceType: 'workflow' | 'layout'
      locale: string
      content: Record<string, unknown>
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete the texts of a workflow or layout in one locale */
  'DELETE /v2/translations/{resourceType}/{resourceId}/{locale}': {
    path: {
      resourceType: 'workflow' | 'layout'
      resourceId: string
      locale: string
    }
    answer: undefined
  }
  /** Delete the texts of a workflow or layout in all locales and turn its translation off */
  'DELETE /v2/translations/{resourceType}/{resourceId}': {
    path: {
      resourceType: 'workflow' | 'layout'
      resourceId: string
    }
    answer: undefined
  }
  /** Export the texts of all workflows and layouts in one locale */
  'GET /v2/translations/master-json': {
    query?: {
      /** Default: the default locale of the organization */
      locale?: string | undefined
    }
    answer: {
      workflows: Record<string, unknown>
      layouts: Record<string, unknown>
    }
  }
  /** Import the texts of many workflows and layouts in one locale */
  'POST /v2/translations/master-json': {
    body: {
      locale: string
      masterJson: {
        workflows?: Record<string, unknown> | undefined
        layouts?: Record<string, unknown> | undefined
      }
    }
    answer: {
      success: boolean
      message: string
      successful?: Array<string> | undefined
      failed?: Array<string> | undefined
    }
  }
  /** Retrieve everything the environment defines, as files have it */
  'GET /v2/definitions': {
    query?: {
      /** Of integration, layout, topic, translation, variable, workflow, separated by commas; default: layout,translation,workflow */
      kinds?: string | undefined
      /** Only these, separated by commas; at most 200 */
      ids?: string | undefined
    }
    answer: {
      format: number
      environment: {
        name: string
        identifier: string
      }
      resources: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        /** SHA-256, in hex, of the definition as RFC 8785 writes it */
        revision: string
        /** Null for kinds without history */
        version: number | null
        files: {
          repository: string | null
          commit: string | null
          path: string | null
          url: string | null
          pushedAt: string
          /** What files last pushed */
          revision: string
          /** Whether something else changed it since */
          drifted: boolean
        } | null
        definition: Record<string, unknown>
      }>
      passedOver: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        why: string
      }>
    }
  }
  /** Show what a push would change; nothing is written */
  'POST /v2/definitions/plan': {
    body: {
      /** Where the files come from */
      source?: {
        repository?: string | null | undefined
        commit?: string | null | undefined
        url?: string | null | undefined
        dirty?: boolean | null | undefined
        /** The service that an importer read them from. They are then owned by no files */
        importedFrom?: string | null | undefined
      } | null | undefined
      /** The name of the change, for the history */
      message?: string | null | undefined
      /** Delete what files once pushed here, nobody changed since and the list no longer has */
      prune?: boolean | undefined
      /** The kinds that the files manage: `prune` deletes nothing of others. Default: all */
      kinds?: Array<'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'> | null | undefined
      /** Each kind once per id */
      resources: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        /** What the change began as: a revision; `files` (the default): what files last pushed, or nothing; null: nothing; `any`: whatever it is */
        base?: string | null | undefined
        /** The file */
        path?: string | null | undefined
        definition: Record<string, unknown>
      }>
      /** Render the messages that would change; at most 200 */
      render?: {
        /** For each of them, with the last payload that is kept, else an example */
        subscriberIds?: Array<string> | undefined
        /** For the recipients of as many of the last triggers, shared out among the workflows */
        triggers?: number | undefined
      } | null | undefined
    }
    answer: {
      changes: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        action: 'created' | 'updated' | 'deleted'
        paths: Array<{
          path: string
          before: unknown
          after: unknown
        }>
      }>
      conflicts: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        base: string | null
        current: {
          /** SHA-256, in hex, of the definition as RFC 8785 writes it */
          revision: string
          /** Null for kinds without history */
          version: number | null
          updatedAt: string | null
          author: {
            type: 'person' | 'api_key' | 'command' | 'service'
            id: string | null
            name: string | null
          } | null
          /** `kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases */
          source: Record<string, unknown> | null
        } | null
        why: 'changed' | 'exists' | 'deleted' | 'code_first'
      }>
      issues: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        stepId: string | null
        path: string
        issueType: string
        message: string
      }>
      renders: Array<{
        workflowId: string
        stepId: string
        channel: string
        /** Null for an example */
        subscriberId: string | null
        /** The trigger whose data it is; null for an example */
        transactionId: string | null
        same: boolean
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        before: Record<string, unknown> | null
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        after: Record<string, unknown> | null
        /** Why a side could not be rendered */
        error: string | null
      }>
      /** Whether there were more than 200 */
      hasMore: boolean
      /** Runs that wait in a workflow that would change. They go on as they began */
      waiting: Array<{
        workflowId: string
        stepId: string
        runs: number
        /** What becomes of the step */
        change: 'none' | 'changed' | 'removed'
      }>
      summary: {
        created: number
        updated: number
        deleted: number
        unchanged: number
      }
    }
  }
  /** Make the environment define what these files say: all of it, or nothing */
  'POST /v2/definitions/push': {
    body: {
      /** Where the files come from */
      source?: {
        repository?: string | null | undefined
        commit?: string | null | undefined
        url?: string | null | undefined
        dirty?: boolean | null | undefined
        /** The service that an importer read them from. They are then owned by no files */
        importedFrom?: string | null | undefined
      } | null | undefined
      /** The name of the change, for the history */
      message?: string | null | undefined
      /** Delete what files once pushed here, nobody changed since and the list no longer has */
      prune?: boolean | undefined
      /** The kinds that the files manage: `prune` deletes nothing of others. Default: all */
      kinds?: Array<'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'> | null | undefined
      /** Each kind once per id */
      resources: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        /** What the change began as: a revision; `files` (the default): what files last pushed, or nothing; null: nothing; `any`: whatever it is */
        base?: string | null | undefined
        /** The file */
        path?: string | null | undefined
        definition: Record<string, unknown>
      }>
      /** Write nothing; the answer is the same, but for `applied` */
      dryRun?: boolean | undefined
    }
    answer: {
      applied: boolean
      changes: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        action: 'created' | 'updated' | 'deleted'
        /** Null for kinds without history */
        version: number | null
        /** SHA-256, in hex, of the definition as RFC 8785 writes it */
        revision: string | null
      }>
      issues: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
        stepId: string | null
        path: string
        issueType: string
        message: string
      }>
      summary: {
        created: number
        updated: number
        deleted: number
        unchanged: number
      }
    }
  }
  /** Retrieve who may change what files own */
  'GET /v2/definitions/settings': {
    answer: {
      /** Whether others may change what files own: `warn` lets them, and the dashboard says so; `refuse` allows pushing and publishing only */
      edits: 'allow' | 'warn' | 'refuse'
    }
  }
  /** Say who may change what files own */
  'PATCH /v2/definitions/settings': {
    body: {
      edits: 'allow' | 'warn' | 'refuse'
    }
    answer: {
      /** Whether others may change what files own: `warn` lets them, and the dashboard says so; `refuse` allows pushing and publishing only */
      edits: 'allow' | 'warn' | 'refuse'
    }
  }
  /** Give up what files own; it stays as it is, and anybody may change it */
  'POST /v2/definitions/release': {
    body: {
      resources: Array<{
        kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
        id: string
      }>
    }
    answer: {
      released: number
    }
  }
  /** List the last 50 pushes of files, newest first */
  'GET /v2/definitions/pushes': {
    answer: {
      data: Array<{
        id: string
        pushedAt: string
        author: {
          type: 'person' | 'api_key' | 'command' | 'service'
          id: string | null
          name: string | null
        } | null
        repository: string | null
        commit: string | null
        url: string | null
        message: string | null
        summary: {
          created: number
          updated: number
          deleted: number
          unchanged: number
        }
        /** Why it was refused, up to 20; empty if it was carried out */
        conflicts: Array<{
          kind: 'integration' | 'layout' | 'topic' | 'translation' | 'variable' | 'workflow'
          id: string
          why: string
        }>
      }>
    }
  }
  /** List the versions of a workflow, newest first; saves in one sitting are one entry */
  'GET /v2/workflows/{workflowId}/versions': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    query?: {
      limit?: number | undefined
      /** `next` of a page */
      after?: number | undefined
      /** Each save as an entry of its own */
      all?: boolean | undefined
    }
    answer: {
      data: Array<{
        version: number
        revision: string
        createdAt: string
        author: {
          type: 'person' | 'api_key' | 'command' | 'service'
          id: string | null
          name: string | null
        } | null
        message: string | null
        /** `kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases */
        source: Record<string, unknown> | null
        /** Up to 20 changed places */
        paths: Array<string>
        /** How many saves in one sitting the entry stands for */
        saves: number
        isCurrent: boolean
      }>
      next: number | null
    }
  }
  /** Compare two versions of a workflow */
  'GET /v2/workflows/{workflowId}/versions/compare': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    query?: {
      /** Default: the version before `to` */
      from?: number | undefined
      /** Default: the current version */
      to?: number | undefined
    }
    answer: {
      from: number
      to: number
      paths: Array<{
        path: string
        before: unknown
        after: unknown
      }>
      /** The difference of the two as YAML, as `diff -u` writes it */
      text: string
    }
  }
  /** Compare two versions of a workflow, with the messages they make */
  'POST /v2/workflows/{workflowId}/versions/compare': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      /** Default: the version before `to` */
      from?: number | undefined
      /** Default: the current version */
      to?: number | undefined
      /** Render the messages that would change; at most 200 */
      render?: {
        /** For each of them, with the last payload that is kept, else an example */
        subscriberIds?: Array<string> | undefined
        /** For the recipients of as many of the last triggers, shared out among the workflows */
        triggers?: number | undefined
      } | null | undefined
    }
    answer: {
      from: number
      to: number
      paths: Array<{
        path: string
        before: unknown
        after: unknown
      }>
      /** The difference of the two as YAML, as `diff -u` writes it */
      text: string
      renders: Array<{
        workflowId: string
        stepId: string
        channel: string
        /** Null for an example */
        subscriberId: string | null
        /** The trigger whose data it is; null for an example */
        transactionId: string | null
        same: boolean
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        before: Record<string, unknown> | null
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        after: Record<string, unknown> | null
        /** Why a side could not be rendered */
        error: string | null
      }>
      /** Whether there were more than 200 */
      hasMore: boolean
    }
  }
  /** Retrieve a version of a workflow */
  'GET /v2/workflows/{workflowId}/versions/{version}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      version: number
    }
    answer: {
      version: number
      revision: string
      createdAt: string
      author: {
        type: 'person' | 'api_key' | 'command' | 'service'
        id: string | null
        name: string | null
      } | null
      message: string | null
      /** `kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases */
      source: Record<string, unknown> | null
      /** Up to 20 changed places */
      paths: Array<string>
      /** How many saves in one sitting the entry stands for */
      saves: number
      isCurrent: boolean
      definition: Record<string, unknown>
      /** The definition as a file: YAML with its bodies in it */
      text: string
      /** Its texts by locale; null for versions of earlier releases */
      translations: Record<string, unknown> | null
    }
  }
  /** Name a version of a workflow; null takes the name away */
  'PATCH /v2/workflows/{workflowId}/versions/{version}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      version: number
    }
    body: {
      message: string | null
    }
    answer: {
      version: number
      message: string | null
    }
  }
  /** Make a version of a workflow the current one again, as a new version; also of a deleted one */
  'POST /v2/workflows/{workflowId}/versions/{version}/restore': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      version: number
    }
    body: {
      message?: string | null | undefined
    }
    answer: {
      _id: string
      workflowId: string
      slug: string
      name: string
      description: string
      tags: Array<string>
      active: boolean
      validatePayload: boolean
      payloadSchema: Record<string, unknown> | null
      payloadExample?: Record<string, unknown> | undefined
      isTranslationEnabled: boolean
      severity: 'high' | 'medium' | 'low' | 'none'
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      journey?: {
        cancellationKey?: string | undefined
        quietHours?: 'skip' | 'hold' | undefined
        exemptFromCaps?: boolean | undefined
        goals?: Array<{
          name: string
          for?: Array<Record<string, unknown>> | undefined
          condition?: Record<string, unknown> | undefined
        }> | undefined
      } | undefined
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: each step has its own issues */
      issues: Record<string, unknown>
      preferences: {
        user: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        } | null
        default: {
          all: {
            enabled: boolean
            readOnly: boolean
          }
          channels: {
            email: {
              enabled: boolean
            }
            sms: {
              enabled: boolean
            }
            in_app: {
              enabled: boolean
            }
            chat: {
              enabled: boolean
            }
            push: {
              enabled: boolean
            }
          }
        }
      }
      steps: Array<{
        controls: {
          dataSchema?: Record<string, unknown> | undefined
          uiSchema?: Record<string, unknown> | undefined
          values: Record<string, unknown>
        }
        controlValues: Record<string, unknown>
        variables: Record<string, unknown>
        stepId: string
        _id: string
        name: string
        slug: string
        type: string
        /** Of a kind such as `branch`; where clients know ten types only, its type is `custom` */
        kind?: string | undefined
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        onUnknown?: 'retry' | 'hold' | undefined
        /** Where replies to its emails go */
        replyCallback?: {
          active?: boolean | undefined
          url?: string | undefined
        } | undefined
        filters?: Array<{
          isNegated: boolean
          type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
          value: 'AND' | 'OR'
          children: Array<{
            field?: string | undefined
            value?: unknown | undefined
            operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
            on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
            webhookUrl?: string | undefined
            timeOperator?: 'minutes' | 'hours' | 'days' | undefined
            step?: string | undefined
            stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
          }>
        }> | undefined
        variants?: Array<{
          _id: string
          name?: string | undefined
          active?: boolean | undefined
          filters: Array<{
            isNegated: boolean
            type: 'BOOLEAN' | 'TEXT' | 'DATE' | 'NUMBER' | 'STATEMENT' | 'LIST' | 'MULTI_LIST' | 'GROUP'
            value: 'AND' | 'OR'
            children: Array<{
              field?: string | undefined
              value?: unknown | undefined
              operator?: 'LARGER' | 'SMALLER' | 'LARGER_EQUAL' | 'SMALLER_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'ALL_IN' | 'ANY_IN' | 'NOT_IN' | 'BETWEEN' | 'NOT_BETWEEN' | 'LIKE' | 'NOT_LIKE' | 'IN' | undefined
              on?: 'subscriber' | 'payload' | 'tenant' | 'webhook' | 'isOnline' | 'isOnlineInLast' | 'previousStep' | undefined
              webhookUrl?: string | undefined
              timeOperator?: 'minutes' | 'hours' | 'days' | undefined
              step?: string | undefined
              stepType?: 'seen' | 'read' | 'unseen' | 'unread' | undefined
            }>
          }>
          controlValues: Record<string, unknown>
        }> | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      lastPublishedAt: string | null
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt: string | null
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment */
      revision: string
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** List the versions of a layout, newest first; saves in one sitting are one entry */
  'GET /v2/layouts/{layoutId}/versions': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    query?: {
      limit?: number | undefined
      /** `next` of a page */
      after?: number | undefined
      /** Each save as an entry of its own */
      all?: boolean | undefined
    }
    answer: {
      data: Array<{
        version: number
        revision: string
        createdAt: string
        author: {
          type: 'person' | 'api_key' | 'command' | 'service'
          id: string | null
          name: string | null
        } | null
        message: string | null
        /** `kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases */
        source: Record<string, unknown> | null
        /** Up to 20 changed places */
        paths: Array<string>
        /** How many saves in one sitting the entry stands for */
        saves: number
        isCurrent: boolean
      }>
      next: number | null
    }
  }
  /** Compare two versions of a layout */
  'GET /v2/layouts/{layoutId}/versions/compare': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    query?: {
      /** Default: the version before `to` */
      from?: number | undefined
      /** Default: the current version */
      to?: number | undefined
    }
    answer: {
      from: number
      to: number
      paths: Array<{
        path: string
        before: unknown
        after: unknown
      }>
      /** The difference of the two as YAML, as `diff -u` writes it */
      text: string
    }
  }
  /** Compare two versions of a layout, with the messages they make */
  'POST /v2/layouts/{layoutId}/versions/compare': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    body: {
      /** Default: the version before `to` */
      from?: number | undefined
      /** Default: the current version */
      to?: number | undefined
      /** Render the messages that would change; at most 200 */
      render?: {
        /** For each of them, with the last payload that is kept, else an example */
        subscriberIds?: Array<string> | undefined
        /** For the recipients of as many of the last triggers, shared out among the workflows */
        triggers?: number | undefined
      } | null | undefined
    }
    answer: {
      from: number
      to: number
      paths: Array<{
        path: string
        before: unknown
        after: unknown
      }>
      /** The difference of the two as YAML, as `diff -u` writes it */
      text: string
      renders: Array<{
        workflowId: string
        stepId: string
        channel: string
        /** Null for an example */
        subscriberId: string | null
        /** The trigger whose data it is; null for an example */
        transactionId: string | null
        same: boolean
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        before: Record<string, unknown> | null
        /** Of an email `subject` and `html`, of others the members of their channel; null if there is none */
        after: Record<string, unknown> | null
        /** Why a side could not be rendered */
        error: string | null
      }>
      /** Whether there were more than 200 */
      hasMore: boolean
    }
  }
  /** Retrieve a version of a layout */
  'GET /v2/layouts/{layoutId}/versions/{version}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
      version: number
    }
    answer: {
      version: number
      revision: string
      createdAt: string
      author: {
        type: 'person' | 'api_key' | 'command' | 'service'
        id: string | null
        name: string | null
      } | null
      message: string | null
      /** `kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases */
      source: Record<string, unknown> | null
      /** Up to 20 changed places */
      paths: Array<string>
      /** How many saves in one sitting the entry stands for */
      saves: number
      isCurrent: boolean
      definition: Record<string, unknown>
      /** The definition as a file: YAML with its bodies in it */
      text: string
      /** Its texts by locale; null for versions of earlier releases */
      translations: Record<string, unknown> | null
    }
  }
  /** Name a version of a layout; null takes the name away */
  'PATCH /v2/layouts/{layoutId}/versions/{version}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
      version: number
    }
    body: {
      message: string | null
    }
    answer: {
      version: number
      message: string | null
    }
  }
  /** Make a version of a layout the current one again, as a new version; also of a deleted one */
  'POST /v2/layouts/{layoutId}/versions/{version}/restore': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
      version: number
    }
    body: {
      message?: string | null | undefined
    }
    answer: {
      _id: string
      layoutId: string
      slug: string
      name: string
      isDefault: boolean
      isTranslationEnabled: boolean
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      createdAt: string
      origin: string
      type: 'BRIDGE'
      variables?: Record<string, unknown> | undefined
      controls: {
        dataSchema: Record<string, unknown>
        uiSchema: Record<string, unknown>
        values: {
          email?: {
            body: string
            editorType: 'block' | 'html'
          } | undefined
        }
      }
      /** Every save that changes something makes the next one */
      version: number
      /** SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list */
      revision?: string | undefined
      /** Where it is kept in files; absent if they did not push it */
      files?: {
        repository: string | null
        commit: string | null
        path: string | null
        url: string | null
        pushedAt: string
        /** What files last pushed */
        revision: string
        /** Whether something else changed it since */
        drifted: boolean
      } | undefined
    }
  }
  /** List the last 20 imports, newest first */
  'GET /v2/import': {
    answer: {
      imports: Array<{
        importId: string
        source: string
        /** Stopped: no request for a minute, and something is left */
        status: 'running' | 'stopped' | 'done'
        startedAt: string
        updatedAt: string
        kinds: Array<{
          kind: string
          found: number
          done: number
          imported: number
          unchanged: number
          failed: number
        }>
      }>
    }
  }
  /** Import up to 500 subscribers */
  'POST /v2/import/subscribers': {
    body: {
      items: Array<Record<string, unknown>>
      /** For the list of imports: how far this one is. `offset` is the number of items of this kind before these */
      progress?: {
        importId: string
        source: string
        /** How many items there are of each kind */
        found: {
          subscribers?: number | undefined
          preferences?: number | undefined
          credentials?: number | undefined
          'topic-subscriptions'?: number | undefined
          messages?: number | undefined
        }
        offset: number
      } | undefined
    }
    answer: {
      imported: number
      /** There already, or changed here later */
      unchanged: number
      failed: Array<{
        index: number
        code: string
        message: string
      }>
    }
  }
  /** Import up to 500 preferences of subscribers */
  'POST /v2/import/preferences': {
    body: {
      items: Array<Record<string, unknown>>
      /** For the list of imports: how far this one is. `offset` is the number of items of this kind before these */
      progress?: {
        importId: string
        source: string
        /** How many items there are of each kind */
        found: {
          subscribers?: number | undefined
          preferences?: number | undefined
          credentials?: number | undefined
          'topic-subscriptions'?: number | undefined
          messages?: number | undefined
        }
        offset: number
      } | undefined
    }
    answer: {
      imported: number
      /** There already, or changed here later */
      unchanged: number
      failed: Array<{
        index: number
        code: string
        message: string
      }>
    }
  }
  /** Import up to 500 device tokens or chat addresses of subscribers */
  'POST /v2/import/credentials': {
    body: {
      items: Array<Record<string, unknown>>
      /** For the list of imports: how far this one is. `offset` is the number of items of this kind before these */
      progress?: {
        importId: string
        source: string
        /** How many items there are of each kind */
        found: {
          subscribers?: number | undefined
          preferences?: number | undefined
          credentials?: number | undefined
          'topic-subscriptions'?: number | undefined
          messages?: number | undefined
        }
        offset: number
      } | undefined
    }
    answer: {
      imported: number
      /** There already, or changed here later */
      unchanged: number
      failed: Array<{
        index: number
        code: string
        message: string
      }>
    }
  }
  /** Import up to 500 subscriptions to topics */
  'POST /v2/import/topic-subscriptions': {
    body: {
      items: Array<Record<string, unknown>>
      /** For the list of imports: how far this one is. `offset` is the number of items of this kind before these */
      progress?: {
        importId: string
        source: string
        /** How many items there are of each kind */
        found: {
          subscribers?: number | undefined
          preferences?: number | undefined
          credentials?: number | undefined
          'topic-subscriptions'?: number | undefined
          messages?: number | undefined
        }
        offset: number
      } | undefined
    }
    answer: {
      imported: number
      /** There already, or changed here later */
      unchanged: number
      failed: Array<{
        index: number
        code: string
        message: string
      }>
    }
  }
  /** Import up to 500 in-app messages */
  'POST /v2/import/messages': {
    body: {
      items: Array<Record<string, unknown>>
      /** For the list of imports: how far this one is. `offset` is the number of items of this kind before these */
      progress?: {
        importId: string
        source: string
        /** How many items there are of each kind */
        found: {
          subscribers?: number | undefined
          preferences?: number | undefined
          credentials?: number | undefined
          'topic-subscriptions'?: number | undefined
          messages?: number | undefined
        }
        offset: number
      } | undefined
    }
    answer: {
      imported: number
      /** There already, or changed here later */
      unchanged: number
      failed: Array<{
        index: number
        code: string
        message: string
      }>
    }
  }
  /** Retrieve the service behind this environment */
  'GET /v2/shadow': {
    answer: {
      upstreamUrl: string
      settleMinutes: number
      /** The workflows that are delivered here, and not passed on */
      live: Array<string>
    }
  }
  /** Choose the workflows that are delivered here */
  'PATCH /v2/shadow': {
    body: {
      /** All of them, by `workflowId` */
      live?: Array<string> | undefined
      /** The address of the service behind it, such as `https://api.novu.co`; requests keep their path */
      upstreamUrl?: string | undefined
      /** Its API key there. It is kept encrypted and never shown */
      upstreamKey?: string | undefined
      /** How long after a trigger both sides are compared at the latest. Default: 10 */
      settleMinutes?: number | undefined
    }
    answer: {
      upstreamUrl: string
      settleMinutes: number
      /** The workflows that are delivered here, and not passed on */
      live: Array<string>
    }
  }
  /** Report how the triggers of both sides compare */
  'GET /v2/shadow/report': {
    query?: {
      /** Only triggers from then on */
      since?: string | undefined
    }
    answer: {
      /** Passed on, and done here too */
      triggers: number
      compared: number
      same: number
      different: number
      pending: number
      /** Differences by kind. `missing` is there and not here, `extra` here and not there */
      kinds: {
        missing: number
        extra: number
        status: number
        recipient: number
        content: number
        time: number
      }
      workflows: Array<{
        workflowId: string
        compared: number
        different: number
        /** The first trigger after the last that differed; null if the newest differed, or none was compared */
        cleanSince: string | null
      }>
    }
  }
  /** List the differences, newest first */
  'GET /v2/shadow/differences': {
    query?: {
      kind?: 'missing' | 'extra' | 'status' | 'recipient' | 'content' | 'time' | undefined
      workflowId?: string | undefined
      limit?: number | undefined
      /** The `next` of the page before */
      after?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        /** Null for a write that is no trigger */
        transactionId: string | null
        subscriberId: string | null
        workflowId: string | null
        stepId: string | null
        kind: 'missing' | 'extra' | 'status' | 'recipient' | 'content' | 'time'
        /** What differs, such as `status` or `subject`; or the write that failed here */
        path: string
        /** What this side has: a text, a list, an object, or null */
        upstream: unknown
        /** What this side has: a text, a list, an object, or null */
        here: unknown
        createdAt: string
      }>
      next: string | null
    }
  }
  /** Retrieve the settings of the organization */
  'GET /v1/organizations/settings': {
    answer: {
      /** Leave our branding out of emails */
      removeSvcBranding: boolean
      /** The fallback for texts missing in another locale */
      defaultLocale: string
      /** The locales to translate into */
      targetLocales: Array<string>
    }
  }
  /** Change the given settings of the organization */
  'PATCH /v1/organizations/settings': {
    body: {
      removeSvcBranding?: boolean | undefined
      defaultLocale?: string | undefined
      targetLocales?: Array<string> | undefined
    }
    answer: {
      /** Leave our branding out of emails */
      removeSvcBranding: boolean
      /** The fallback for texts missing in another locale */
      defaultLocale: string
      /** The locales to translate into */
      targetLocales: Array<string>
    }
  }
  /** Preview what a step would deliver */
  'POST /v2/workflows/{workflowId}/step/{stepId}/preview': {
    path: {
      workflowId: string
      stepId: string
    }
    body: {
      controlValues?: Record<string, unknown> | null | undefined
      previewPayload?: {
        payload?: Record<string, unknown> | null | undefined
        subscriber?: Record<string, unknown> | null | undefined
        context?: Record<string, unknown> | null | undefined
        steps?: Record<string, unknown> | null | undefined
        env?: Record<string, unknown> | null | undefined
      } | null | undefined
    }
    answer: {
      result: {
        type?: string | undefined
        preview: Record<string, unknown>
        /** Why there is no preview */
        error?: {
          title: string
          message: string
          hint: string
        } | undefined
      }
      previewPayloadExample: Record<string, unknown>
      schema: Record<string, unknown> | null
    }
  }
  /** Check what each step would do with an example */
  'POST /v2/workflows/{workflowId}/check': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      /** Instead of the stored ones, by `stepId` */
      controlValues?: Record<string, Record<string, unknown>> | null | undefined
      previewPayload?: {
        payload?: Record<string, unknown> | null | undefined
        subscriber?: Record<string, unknown> | null | undefined
        context?: Record<string, unknown> | null | undefined
        steps?: Record<string, unknown> | null | undefined
        env?: Record<string, unknown> | null | undefined
      } | null | undefined
    }
    answer: {
      steps: Array<{
        stepId: string
        /** Whether the condition holds; null if it cannot be evaluated */
        holds: boolean | null
        /** The same for each row of the condition, by its place: `0.1` is the second row of the first group */
        rows: Record<string, boolean | null>
        /** Why there is no preview */
        error?: {
          title: string
          message: string
          hint: string
        } | undefined
        /** Variables that neither the given payload nor those of the last triggers have */
        unknownVariables: Array<string>
      }>
    }
  }
  /** Try the request of an HTTP request step */
  'POST /v2/workflows/steps/test-http-request': {
    body: {
      controlValues?: Record<string, unknown> | null | undefined
      previewPayload?: {
        payload?: Record<string, unknown> | null | undefined
        subscriber?: Record<string, unknown> | null | undefined
        context?: Record<string, unknown> | null | undefined
        steps?: Record<string, unknown> | null | undefined
        env?: Record<string, unknown> | null | undefined
      } | null | undefined
    }
    answer: {
      statusCode: number
      body: unknown
      headers: Record<string, unknown>
      durationMs: number
      resolvedRequest: {
        url: string
        method: string
        headers: Record<string, unknown>
        body?: unknown | undefined
      }
    }
  }
  /** Store the workflows that an application declares */
  'POST /v1/bridge/sync': {
    query?: {
      /** Accepted and ignored */
      source?: string | undefined
    }
    body: {
      bridgeUrl: string
    }
    answer: Array<{
      _id: string
      workflowId: string
      slug: string
      name: string
      origin: string
      tags: Array<string>
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      createdAt: string
      updatedAt: string
      updatedBy?: {
        _id: string
      } | undefined
      /** Empty if never published */
      lastPublishedAt: string
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt?: string | undefined
      isTranslationEnabled: boolean
      messageClass: 'transactional' | 'commercial'
      consentCategory: string | null
      tracking: {
        opens: boolean
        clicks: boolean
      }
      /** Set while a commercial workflow sends no email, because too much of it bounced or was complained about */
      brake: {
        since: string
        cause: 'bounces' | 'complaints'
        /** `counted` of `sent` */
        percent: number
        sent: number
        counted: number
      } | null
      stepTypeOverviews: Array<string>
      steps: Array<{
        slug: string
        type: string
        kind?: string | undefined
        issues?: {
          controls?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
          integration?: Record<string, Array<{
            issueType: string
            variableName?: string | undefined
            message: string
          }>> | undefined
        } | undefined
      }>
    }>
  }
  /** Compare the workflows of the application at the stored URL with those given */
  'POST /v1/bridge/diff': {
    body: Record<string, unknown>
    answer: {
      current: {
        workflows: Array<unknown>
        bridgeUrl: string
      }
      new: Record<string, unknown>
    }
  }
  /** Retrieve the status of the application */
  'GET /v1/bridge/status': {
    answer: Record<string, unknown>
  }
  /** Check whether an application answers at a URL */
  'POST /v1/bridge/validate': {
    body: {
      bridgeUrl: string
    }
    answer: {
      isValid: boolean
      error?: string | undefined
    }
  }
  /** Read the control values of a step */
  'GET /v1/bridge/controls/{workflowId}/{stepId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      /** `stepId`, slug or internal id */
      stepId: string
    }
    answer: {
      controls: Record<string, unknown>
    }
  }
  /** Replace the control values of a step */
  'PUT /v1/bridge/controls/{workflowId}/{stepId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      /** `stepId`, slug or internal id */
      stepId: string
    }
    body: {
      variables: Record<string, unknown>
    }
    answer: {
      controls: Record<string, unknown>
    }
  }
  /** Preview a step with the application */
  'POST /v1/bridge/preview/{workflowId}/{stepId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
      /** `stepId`, slug or internal id */
      stepId: string
    }
    body: {
      controls?: Record<string, unknown> | null | undefined
      payload?: Record<string, unknown> | null | undefined
    }
    answer: {
      outputs: Record<string, unknown>
      providers: Record<string, unknown>
      options: Record<string, unknown>
      metadata: Record<string, unknown>
    }
  }
  /** Retrieve the sign-in options */
  'GET /v1/auth/options': {
    answer: {
      /** Whether there is an owner */
      isSetUp: boolean
      /** The identity provider, and the URL to start with */
      oidc: {
        name: string
        url: string
      } | null
      password: {
        minLength: number
        maxLength: number
      }
      /** Whether somebody can sign in with a passkey */
      hasPasskeys: boolean
      /** Whether an email integration can mail a link for a new password */
      mailsResets: boolean
    }
  }
  /** Look up the purpose of a link */
  'POST /v1/auth/links/look-up': {
    body: {
      /** The part of the link after the # */
      token: string
    }
    answer: {
      kind: 'set-up' | 'invitation' | 'reset'
      organization: string
      email: string | null
      name: string | null
      role: string | null
      expiresAt: string
    }
  }
  /** Become the owner, with the link that the first start printed */
  'POST /v1/auth/set-up': {
    body: {
      /** The part of the link after the # */
      token: string
      name: string
      email: string
      /** At least 10 characters */
      password: string
      organizationName?: string | undefined
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** Sign in with email address and password; 202 if a second factor is asked next */
  'POST /v1/auth/sign-in': {
    body: {
      email: string
      password: string
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    } | {
      secondStep: {
        /** For `POST /v1/auth/second-step` */
        token: string
        ways: Array<'app' | 'passkey' | 'recovery-code'>
        expiresAt: string
      }
    }
  }
  /** End the session */
  'POST /v1/auth/sign-out': {
    answer: undefined
  }
  /** Choose a new password with a link; ends all sessions and starts a new one, after the second factor if there is one */
  'POST /v1/auth/password-reset': {
    body: {
      /** The part of the link after the # */
      token: string
      /** At least 10 characters */
      password: string
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    } | {
      secondStep: {
        /** For `POST /v1/auth/second-step` */
        token: string
        ways: Array<'app' | 'passkey' | 'recovery-code'>
        expiresAt: string
      }
    }
  }
  /** Mail a link for a new password, if there is such an account */
  'POST /v1/auth/forgot-password': {
    body: {
      email: string
    }
    answer: undefined
  }
  /** Sign in: the second step, with one of a code, a recovery code or a passkey */
  'POST /v1/auth/second-step': {
    body: {
      /** The part of the link after the # */
      token: string
      code?: string | undefined
      recoveryCode?: string | undefined
      /** What the browser answered, as `PublicKeyCredential.toJSON()` has it */
      passkey?: Record<string, unknown> | undefined
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** Ask for a challenge to sign in with a passkey */
  'POST /v1/auth/passkey-challenge': {
    body: {
      /** The part of the link after the # */
      token?: string | undefined
    }
    answer: Record<string, unknown>
  }
  /** Sign in with a passkey alone, which must check a PIN, finger or face */
  'POST /v1/auth/passkey-sign-in': {
    body: {
      /** What the browser answered, as `PublicKeyCredential.toJSON()` has it */
      passkey: Record<string, unknown>
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** Start a sign-in with the identity provider */
  'GET /v1/auth/oidc/start': {
    query?: {
      /** Have the provider ask even those who are signed in there */
      again?: boolean | undefined
      /** The path of this service to go to afterwards */
      returnTo?: string | undefined
    }
    answer: undefined
  }
  /** Retrieve the signed-in person */
  'GET /v1/auth/session': {
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** Change your name or your password, which ends your other sessions */
  'PATCH /v1/auth/me': {
    body: {
      name?: string | undefined
      currentPassword?: string | undefined
      /** At least 10 characters */
      newPassword?: string | undefined
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** List your sessions */
  'GET /v1/auth/sessions': {
    answer: Array<{
      _id: string
      userAgent: string | null
      address: string
      createdAt: string
      lastSeenAt: string
      expiresAt: string
      isCurrent: boolean
    }>
  }
  /** End all your other sessions */
  'DELETE /v1/auth/sessions': {
    answer: {
      ended: number
    }
  }
  /** End one of your sessions */
  'DELETE /v1/auth/sessions/{sessionId}': {
    path: {
      sessionId: string
    }
    answer: undefined
  }
  /** End all your sessions */
  'POST /v1/auth/sign-out-everywhere': {
    answer: undefined
  }
  /** List your second factors */
  'GET /v1/auth/factors': {
    answer: {
      /** Null without an authenticator app */
      appSince: string | null
      passkeys: Array<{
        _id: string
        name: string
        /** It works at this host only */
        host: string
        createdAt: string
        lastUsedAt: string | null
      }>
      recoveryCodesLeft: number
    }
  }
  /** Begin to set up an authenticator app */
  'POST /v1/auth/factors/app': {
    answer: {
      secret: string
      /** For a QR code */
      uri: string
    }
  }
  /** Remove the authenticator app */
  'DELETE /v1/auth/factors/app': {
    answer: undefined
  }
  /** Confirm the authenticator app with a code; a first factor ends your other sessions */
  'POST /v1/auth/factors/app/confirm': {
    body: {
      code: string
    }
    answer: {
      /** With the first factor; shown this once */
      recoveryCodes: Array<string> | null
    }
  }
  /** Ask for a challenge to add a passkey */
  'POST /v1/auth/factors/passkeys/challenge': {
    answer: Record<string, unknown>
  }
  /** Add a passkey; a first factor ends your other sessions */
  'POST /v1/auth/factors/passkeys': {
    body: {
      name: string
      /** What the browser answered, as `PublicKeyCredential.toJSON()` has it */
      passkey: Record<string, unknown>
    }
    answer: {
      /** With the first factor; shown this once */
      recoveryCodes: Array<string> | null
    }
  }
  /** Rename a passkey */
  'PATCH /v1/auth/factors/passkeys/{passkeyId}': {
    path: {
      passkeyId: string
    }
    body: {
      name: string
    }
    answer: {
      _id: string
      name: string
      /** It works at this host only */
      host: string
      createdAt: string
      lastUsedAt: string | null
    }
  }
  /** Remove a passkey */
  'DELETE /v1/auth/factors/passkeys/{passkeyId}': {
    path: {
      passkeyId: string
    }
    answer: undefined
  }
  /** Make new recovery codes; earlier ones stop working */
  'POST /v1/auth/factors/recovery-codes': {
    answer: {
      /** Shown this once; each works once */
      recoveryCodes: Array<string>
    }
  }
  /** Ask for a challenge to prove who you are with a passkey */
  'POST /v1/auth/proof/challenge': {
    answer: Record<string, unknown>
  }
  /** Prove who you are, with one of password, code or passkey */
  'POST /v1/auth/proof': {
    body: {
      password?: string | undefined
      code?: string | undefined
      /** What the browser answered, as `PublicKeyCredential.toJSON()` has it */
      passkey?: Record<string, unknown> | undefined
    }
    answer: {
      provedUntil: string
    }
  }
  /** List the people of the organization */
  'GET /v1/auth/members': {
    answer: Array<{
      _id: string
      name: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }>
      hasPassword: boolean
      hasOidc: boolean
      /** An authenticator app or a passkey of their own */
      hasSecondFactor: boolean
      isYou: boolean
      /** Null without a current session */
      lastSeenAt: string | null
      createdAt: string
    }>
  }
  /** Change a member's role, in the organization or in single environments */
  'PATCH /v1/auth/members/{memberId}': {
    path: {
      memberId: string
    }
    body: {
      role?: 'viewer' | 'editor' | 'admin' | 'owner' | undefined
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles?: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }> | undefined
    }
    answer: {
      _id: string
      name: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }>
      hasPassword: boolean
      hasOidc: boolean
      /** An authenticator app or a passkey of their own */
      hasSecondFactor: boolean
      isYou: boolean
      /** Null without a current session */
      lastSeenAt: string | null
      createdAt: string
    }
  }
  /** Remove a member; all their sessions end */
  'DELETE /v1/auth/members/{memberId}': {
    path: {
      memberId: string
    }
    answer: undefined
  }
  /** Create a link for a member to choose a new password */
  'POST /v1/auth/members/{memberId}/reset-link': {
    path: {
      memberId: string
    }
    answer: {
      link: string
      expiresAt: string
    }
  }
  /** Remove the second factors of a member who lost them; all their sessions end */
  'DELETE /v1/auth/members/{memberId}/factors': {
    path: {
      memberId: string
    }
    answer: undefined
  }
  /** Say whether every member needs a second factor */
  'PUT /v1/auth/organization/second-factor': {
    body: {
      isRequired: boolean
    }
    answer: {
      isRequired: boolean
    }
  }
  /** Rename the organization */
  'PATCH /v1/auth/organization': {
    body: {
      name: string
    }
    answer: {
      _id: string
      name: string
    }
  }
  /** List open and expired invitations */
  'GET /v1/auth/invitations': {
    answer: Array<{
      _id: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }>
      invitedBy: string
      createdAt: string
      expiresAt: string
      isExpired: boolean
    }>
  }
  /** Invite somebody */
  'POST /v1/auth/invitations': {
    body: {
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles?: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }> | undefined
    }
    answer: {
      _id: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      /** Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these */
      environmentRoles: Array<{
        _environmentId: string
        role: 'none' | 'viewer' | 'editor' | 'admin'
      }>
      invitedBy: string
      createdAt: string
      expiresAt: string
      isExpired: boolean
      /** Shown only this once */
      link: string
      mail: {
        status: 'sent' | 'not_configured' | 'failed'
        /** The name of the integration that sent it */
        integration: string | null
        reason: string | null
      }
    }
  }
  /** Withdraw an invitation; its link stops working */
  'DELETE /v1/auth/invitations/{invitationId}': {
    path: {
      invitationId: string
    }
    answer: undefined
  }
  /** Accept an invitation by its link, and sign in */
  'POST /v1/auth/invitations/accept': {
    body: {
      /** The part of the link after the # */
      token: string
      name: string
      /** At least 10 characters */
      password: string
    }
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether they have signed in with the identity provider */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
        /** Whether its members need one; the service can ask for it, too */
        requiresSecondFactor: boolean
      }
      secondFactor: {
        hasApp: boolean
        passkeys: number
        recoveryCodesLeft: number
        /** By the organization or the service */
        isRequired: boolean
        /** Nothing else is open until a factor has been set up */
        mustSetUp: boolean
      }
      /** Those you have access to: the values for `Belfry-Environment`; the first is the default */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
        /** Your role there */
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        /** Whether a publish into it needs the approval of a second person */
        isProtected: boolean
        /** Only where the clock is held: what it shows. See `GET /v1/clock` */
        clock?: {
          held: true
          now: string
          seed: number
        } | undefined
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
        /** Until then it does not ask again before what cannot be undone */
        provedUntil: string
      }
    }
  }
  /** List your saved views */
  'GET /v1/auth/views': {
    query?: {
      /** The list it is a view of */
      page?: 'subscribers' | undefined
    }
    answer: Array<{
      _id: string
      /** The list it is a view of */
      page: 'subscribers'
      name: string
      /** Filters and order, as in the URL: `name=ada&by=updatedAt` */
      search: string
      createdAt: string
    }>
  }
  /** Save a view of a list */
  'POST /v1/auth/views': {
    body: {
      /** The list it is a view of */
      page: 'subscribers'
      name: string
      /** Filters and order, as in the URL: `name=ada&by=updatedAt` */
      search: string
    }
    answer: {
      _id: string
      /** The list it is a view of */
      page: 'subscribers'
      name: string
      /** Filters and order, as in the URL: `name=ada&by=updatedAt` */
      search: string
      createdAt: string
    }
  }
  /** Rename a saved view, or change what it shows */
  'PATCH /v1/auth/views/{viewId}': {
    path: {
      viewId: string
    }
    body: {
      name?: string | undefined
      /** Filters and order, as in the URL: `name=ada&by=updatedAt` */
      search?: string | undefined
    }
    answer: {
      _id: string
      /** The list it is a view of */
      page: 'subscribers'
      name: string
      /** Filters and order, as in the URL: `name=ada&by=updatedAt` */
      search: string
      createdAt: string
    }
  }
  /** Delete a saved view */
  'DELETE /v1/auth/views/{viewId}': {
    path: {
      viewId: string
    }
    answer: undefined
  }
  /** Verify the audit log of the organization */
  'GET /v1/audit/verify': {
    answer: {
      /** Whether every hash fits its entry and the entry before */
      isWhole: boolean
      /** Entries that are left; older ones are deleted by age, from the oldest on */
      entries: number
      /** Of these, the ones whose subscriber was erased */
      erased: number
      first?: {
        number: string
        createdAt: string
      } | undefined
      /** Keep it elsewhere: if a later export has another hash under this number, the log was rewritten */
      last?: {
        number: string
        hash: string
      } | undefined
      /** The first entry that does not fit */
      broken?: {
        id: string | null
        number: string
        reason: string
      } | undefined
    }
  }
  /** Export the audit log of the organization */
  'GET /v1/audit/export': {
    query?: {
      /** The `number` of the last entry you have */
      after?: string | undefined
    }
    answer: undefined
  }
  /** List the audit log of the organization */
  'GET /v1/audit': {
    query?: {
      /** Cursor: the items after this one */
      after?: string | undefined
      /** Cursor: the items before this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; an unknown one means the default */
      orderBy?: string | undefined
      /** Include the cursor item in the page */
      includeCursor?: boolean | undefined
      /** The whole action, or the part before its dot */
      action?: string | undefined
      /** The id of a person or of an API key */
      actor?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        /** The action, such as `member.role-changed` */
        action: string
        actor: {
          type: 'person' | 'api-key' | 'system'
          id: string | null
          name: string
          email: string | null
        }
        target: {
          type: string
          id: string | null
          name: string | null
        }
        environmentId: string | null
        /** Where the request came from */
        address: string | null
        details: Record<string, unknown>
        createdAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Import a CSV file into the suppression list */
  'POST /v1/suppressions/import': {
    body: FormData
    answer: {
      imported: number
      existing: number
      rejected: number
      /** The first 100 */
      errors: Array<{
        line: number
        problem: string
      }>
    }
  }
  /** Ask whether an address leads to this service */
  'GET /l/whoami': {
    answer: {
      service: string
    }
  }
  /** Stand in for the links of a preview */
  'GET /l/preview': {
    answer: undefined
  }
  /** Show the page that unsubscribes */
  'GET /l/u/{token}': {
    path: {
      token: string
    }
    query?: {
      lang?: string | undefined
    }
    answer: {
      /** Nothing has changed; unsubscribed; that unsubscription is undone */
      state: 'question' | 'done' | 'undone'
      channel: string
      /** Whose workflows are unsubscribed together */
      category: string | null
      brand: {
        name: string | null
        logoUrl: string | null
        primaryColor: string | null
        postalAddress: string | null
      }
    }
  }
  /** Unsubscribe */
  'POST /l/u/{token}': {
    path: {
      token: string
    }
    body: FormData
    answer: {
      /** Nothing has changed; unsubscribed; that unsubscription is undone */
      state: 'question' | 'done' | 'undone'
      channel: string
      /** Whose workflows are unsubscribed together */
      category: string | null
      brand: {
        name: string | null
        logoUrl: string | null
        primaryColor: string | null
        postalAddress: string | null
      }
    }
  }
  /** Count a click, and go where the link leads */
  'GET /l/c/{token}': {
    path: {
      token: string
    }
    query?: {
      /** Where the link leads */
      u?: unknown | undefined
    }
    answer: undefined
  }
  /** Count that a message was opened */
  'GET /l/o/{token}': {
    path: {
      token: string
    }
    answer: undefined
  }
  /** Show the page of preferences */
  'GET /l/p/{token}': {
    path: {
      token: string
    }
    query?: {
      lang?: string | undefined
    }
    answer: {
      workflows: Array<{
        workflowId: string
        name: string
        messageClass: 'transactional' | 'commercial'
        category: string | null
        /** Nobody can switch it off */
        locked: boolean
        channels: Array<{
          channel: string
          on: boolean
          /** Held back by what a switch does not end, such as STOP by text message */
          fixed: boolean
        }>
      }>
      /** Which of their addresses refuse everything commercial */
      stopped: 'none' | 'some' | 'all'
      snoozedUntil: string | null
      timezone: string | null
      saved: boolean
      brand: {
        name: string | null
        logoUrl: string | null
        primaryColor: string | null
        postalAddress: string | null
      }
    }
  }
  /** Save the page of preferences */
  'POST /l/p/{token}': {
    path: {
      token: string
    }
    body: FormData
    answer: {
      workflows: Array<{
        workflowId: string
        name: string
        messageClass: 'transactional' | 'commercial'
        category: string | null
        /** Nobody can switch it off */
        locked: boolean
        channels: Array<{
          channel: string
          on: boolean
          /** Held back by what a switch does not end, such as STOP by text message */
          fixed: boolean
        }>
      }>
      /** Which of their addresses refuse everything commercial */
      stopped: 'none' | 'some' | 'all'
      snoozedUntil: string | null
      timezone: string | null
      saved: boolean
      brand: {
        name: string | null
        logoUrl: string | null
        primaryColor: string | null
        postalAddress: string | null
      }
    }
  }
  /** Begin a session that opens preferences only */
  'POST /l/p/{token}/session': {
    path: {
      token: string
    }
    answer: {
      token: string
    }
  }
  /** Show a message in the browser */
  'GET /l/v/{token}': {
    path: {
      token: string
    }
    answer: undefined
  }
  /** Show the page that answers a question */
  'GET /a/{token}': {
    path: {
      token: string
    }
    query?: {
      /** The answer that comes first */
      answer?: string | undefined
      lang?: string | undefined
    }
    answer: {
      id: string
      question: string
      details: string | null
      answers: Array<{
        id: string
        label: string
      }>
      freeText: {
        label: string
        required: boolean
      } | null
      state: 'open' | 'answered' | 'expired' | 'canceled'
      answer: string | null
      answeredBy: {
        subscriberId: string | null
        name: string | null
        /** How they answered; `api` for the endpoint, `page` for the page */
        channel: string
        createdAt: string
        /** Who pressed the button in a chat */
        as?: {
          provider: string
          userId: string
          name: string | null
        } | undefined
        /** The member who answered as themselves */
        member?: {
          id: string
          name: string
        } | undefined
      } | null
      deadline: string
    }
  }
  /** Answer a question */
  'POST /a/{token}': {
    path: {
      token: string
    }
    body: FormData
    answer: {
      state: 'answered'
      answer: string
      answeredBy: {
        subscriberId: string | null
        name: string | null
        /** How they answered; `api` for the endpoint, `page` for the page */
        channel: string
        createdAt: string
        /** Who pressed the button in a chat */
        as?: {
          provider: string
          userId: string
          name: string | null
        } | undefined
        /** The member who answered as themselves */
        member?: {
          id: string
          name: string
        } | undefined
      } | null
      isYours: boolean
    }
  }
  /** Verify the address for a provider, before it sends events */
  'GET /v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId}': {
    path: {
      /** Its `_id` */
      environmentId: string
      /** Its `_id` */
      integrationId: string
    }
    answer: string
  }
  /** Receive delivery events of a provider */
  'POST /v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId}': {
    path: {
      /** Its `_id` */
      environmentId: string
      /** Its `_id` */
      integrationId: string
    }
    answer: Array<{
      /** The message id of the provider */
      id: string
      event: {
        status: string
        date: string
        externalId?: string | undefined
        attempts?: number | undefined
        response?: string | undefined
        /** The event of the provider, as JSON text */
        row?: string | undefined
      }
    }>
  }
  /** The same, at the legacy address */
  'POST /webhooks/organizations/{organizationId}/environments/{environmentId}/{channel}/{providerOrIntegrationId}': {
    path: {
      /** Its `_id` */
      organizationId: string
      /** Its `_id` */
      environmentId: string
      channel: 'email' | 'sms'
      /** A provider id, or the `_id` of an integration */
      providerOrIntegrationId: string
    }
    answer: Array<{
      /** The message id of the provider */
      id: string
      event: {
        status: string
        date: string
        externalId?: string | undefined
        attempts?: number | undefined
        response?: string | undefined
        /** The event of the provider, as JSON text */
        row?: string | undefined
      }
    }>
  }
  /** Receive updates of a bot */
  'POST /v2/inbound-webhooks/bots/{environmentId}/{integrationId}': {
    path: {
      environmentId: string
      integrationId: string
    }
    answer: Record<string, unknown>
  }
  /** Write the texts of a workflow or layout from files, one per locale */
  'POST /v2/translations/upload': {
    body: FormData
    answer: {
      totalFiles: number
      successfulUploads: number
      failedUploads: number
      errors: Array<string>
    }
  }
  /** Import the texts of many workflows and layouts from one file, named after its locale */
  'POST /v2/translations/master-json/upload': {
    body: FormData
    answer: {
      success: boolean
      message: string
      successful?: Array<string> | undefined
      failed?: Array<string> | undefined
    }
  }
}
