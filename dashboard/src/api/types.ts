// Made from server/openapi.json by `npm run generate`: every operation with what it takes and what it answers.
// Do not edit it; change the schema of the route.

export interface Operations {
  /** Is the process alive? */
  'GET /health/live': {
    answer: {
      status: string
    }
  }
  /** Can it do its work? */
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
      /** A trigger with an id that was used before is ignored */
      transactionId?: string | undefined
      /** A subscriber id, or a subscriber object that is created or updated */
      actor?: unknown | undefined
      /** The identifier of a tenant, or `{identifier, name?, data?}` */
      tenant?: unknown | undefined
      context?: Record<string, unknown> | undefined
      /** Of an application whose workflow is to be run as it is there now; for development */
      bridgeUrl?: string | undefined
      /** With `bridgeUrl`: values for the controls of its steps, `{"steps": {"<stepId>": {…}}}` */
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
      /** The page of the dashboard that shows what came of it */
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
        /** A trigger with an id that was used before is ignored */
        transactionId?: string | undefined
        /** A subscriber id, or a subscriber object that is created or updated */
        actor?: unknown | undefined
        /** The identifier of a tenant, or `{identifier, name?, data?}` */
        tenant?: unknown | undefined
        context?: Record<string, unknown> | undefined
        /** Of an application whose workflow is to be run as it is there now; for development */
        bridgeUrl?: string | undefined
        /** With `bridgeUrl`: values for the controls of its steps, `{"steps": {"<stepId>": {…}}}` */
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
      /** The page of the dashboard that shows what came of it */
      activityFeedLink?: string | undefined
    }>
  }
  /** Trigger an event for every subscriber */
  'POST /v1/events/trigger/broadcast': {
    body: {
      /** The identifier of the workflow */
      name: string
      overrides?: Record<string, unknown> | undefined
      /** A trigger with an id that was used before is ignored */
      transactionId?: string | undefined
      /** A subscriber id, or a subscriber object that is created or updated */
      actor?: unknown | undefined
      /** The identifier of a tenant, or `{identifier, name?, data?}` */
      tenant?: unknown | undefined
      context?: Record<string, unknown> | undefined
      /** Of an application whose workflow is to be run as it is there now; for development */
      bridgeUrl?: string | undefined
      /** With `bridgeUrl`: values for the controls of its steps, `{"steps": {"<stepId>": {…}}}` */
      controls?: Record<string, unknown> | undefined
      payload: Record<string, unknown>
    }
    answer: {
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The page of the dashboard that shows what came of it */
      activityFeedLink?: string | undefined
    }
  }
  /** Cancel what a trigger has not done yet */
  'DELETE /v1/events/trigger/{transactionId}': {
    path: {
      transactionId: string
    }
    answer: boolean
  }
  /** See what became of a trigger, and who got nothing by it */
  'GET /v1/events/trigger/{transactionId}': {
    path: {
      transactionId: string
    }
    query?: {
      /** Only why this one was passed over */
      subscriberId?: string | undefined
      limit?: number | undefined
    }
    answer: {
      transactionId: string
      workflowId?: string | undefined
      /** Whether it waits for a worker, goes through its topics, or has reached everybody it will reach */
      status: 'queued' | 'expanding' | 'expanded'
      runs: {
        processing: number
        completed: number
        error: number
      }
      passedOver: Array<{
        reason: 'topic_not_found' | 'topic_subscription_preference_evaluation' | 'excluded' | 'actor' | 'invalid_recipient' | 'canceled_by_user'
        /** Of a subscription: what it says, such as `disabled` */
        detail?: string | undefined
        /** A topic or an id that stands for nobody, as the trigger has it */
        named?: string | undefined
        /** Up to 500; none where it is about a name, or about all who were left when the trigger was cancelled */
        subscriberIds: Array<string>
        createdAt: string
      }>
      /** Whether more were passed over than are listed */
      hasMore: boolean
      createdAt: string
      startedAt?: string | undefined
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      type?: string | undefined
      id?: string | undefined
      /** Anywhere in `type:id`, in any case */
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
      /** Leave an existing subscriber alone and answer 409 */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** Anywhere in the address, in any case */
      email?: string | undefined
      /** Anywhere in the number */
      phone?: string | undefined
      /** Anywhere in first and last name, in any case */
      name?: string | undefined
      /** Exactly this id */
      subscriberId?: string | undefined
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
  /** Delete a subscriber with all that belongs to it */
  'DELETE /v2/subscribers/{subscriberId}': {
    path: {
      subscriberId: string
    }
    answer: {
      acknowledged: boolean
      status: string
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
          /** Else the newest active one of the provider */
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
        /** Else the newest active one of the provider */
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
        /** Else the newest active one of the provider */
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
      /** Else the newest active one of the provider */
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
      /** Else the newest active one of the provider */
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
  /** Forget a subscriber's credentials for all integrations of a provider */
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
        /** Who decided about each channel */
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
  /** Change a subscriber's preferences, in general or for one workflow */
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
      /** Without it the channels are meant for all workflows */
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
        /** Who decided about each channel */
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
  /** Change a subscriber's preferences in general */
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
  /** Retrieve a subscriber's preferences for every workflow, or in general */
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
  /** Erase a subscriber: every trace of the person in this environment */
  'POST /v2/subscribers/{subscriberId}/erase': {
    path: {
      subscriberId: string
    }
    answer: {
      _id: string
      status: 'pending' | 'running' | 'completed'
      /** How many rows were removed, by table; `events_changed` counts triggers for others that named the person */
      report: Record<string, number>
      createdAt: string
      completedAt: string | null
    }
  }
  /** List the erasures of this environment */
  'GET /v2/erasures': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
    }
    answer: {
      data: Array<{
        _id: string
        status: 'pending' | 'running' | 'completed'
        /** How many rows were removed, by table; `events_changed` counts triggers for others that named the person */
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
  /** Retrieve an erasure: how far it is, and what was removed */
  'GET /v2/erasures/{erasureId}': {
    path: {
      erasureId: string
    }
    answer: {
      _id: string
      status: 'pending' | 'running' | 'completed'
      /** How many rows were removed, by table; `events_changed` counts triggers for others that named the person */
      report: Record<string, number>
      createdAt: string
      completedAt: string | null
    }
  }
  /** Export everything that is held of a subscriber, as JSON */
  'GET /v2/subscribers/{subscriberId}/export': {
    path: {
      subscriberId: string
    }
    answer: {
      subscriberId: string
      exportedAt: string
      /** Rows by what they are */
      data: Record<string, Array<Record<string, unknown>>>
    }
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
      /** The workflow as it is now; absent once it is deleted */
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
  /** Set what became of the buttons of a message */
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
      /** The workflow as it is now; absent once it is deleted */
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
  /** List in-app messages of a subscriber, the newest first */
  'GET /v1/subscribers/{subscriberId}/notifications/feed': {
    path: {
      subscriberId: string
    }
    query?: {
      page?: number | undefined
      limit?: number | undefined
      read?: boolean | undefined
      seen?: boolean | undefined
      /** A JSON object in base64: those whose trigger had all of it in its payload */
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
  /** Count in-app messages that were not seen yet */
  'GET /v1/subscribers/{subscriberId}/notifications/unseen': {
    path: {
      subscriberId: string
    }
    query?: {
      seen?: boolean | undefined
      /** Where counting stops */
      limit?: number | undefined
      feedId?: Array<string> | undefined
    }
    answer: {
      count: number
    }
  }
  /** List a subscriber's notifications, the newest first */
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
      /** A JSON object: those whose data has all of it */
      data?: string | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      /** In milliseconds since 1970; inclusive */
      createdGte?: number | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Mark a notification as unread, which takes it out of the archive */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unread': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Put a notification into the archive */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/archive': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Take a notification out of the archive */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unarchive': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Put a notification aside until a time */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Take a notification back that was put aside */
  'PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unsnooze': {
    path: {
      subscriberId: string
      notificationId: string
    }
    query?: {
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Mark notifications as seen: those named, else all that match */
  'POST /v2/subscribers/{subscriberId}/notifications/seen': {
    path: {
      subscriberId: string
    }
    body: {
      /** These, whatever else is asked for */
      notificationIds?: Array<string> | undefined
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with at least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Mark all notifications that match as read */
  'POST /v2/subscribers/{subscriberId}/notifications/read': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with at least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Put all notifications that match into the archive */
  'POST /v2/subscribers/{subscriberId}/notifications/archive': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with at least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Put all read notifications that match into the archive */
  'POST /v2/subscribers/{subscriberId}/notifications/read-archive': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with at least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Delete all notifications that match */
  'POST /v2/subscribers/{subscriberId}/notifications/delete': {
    path: {
      subscriberId: string
    }
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
      /** Those with at least one of these */
      contextKeys?: Array<string> | undefined
    }
    answer: undefined
  }
  /** Begin a session for a subscriber, who is created if missing */
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
      /** When the subscriber wants messages, until it says otherwise */
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
  /** List notifications, the newest first */
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
      /** A JSON object: those whose data has all of it */
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
  /** Mark a notification as unread, which takes it out of the archive */
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
  /** Put a notification into the archive */
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
  /** Take a notification out of the archive */
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
  /** Put a notification aside until a time */
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
  /** Take a notification back that was put aside */
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
  /** Mark notifications as seen: those named, else all that match */
  'POST /v1/inbox/notifications/seen': {
    body: {
      /** These, whatever else is asked for */
      notificationIds?: Array<string> | undefined
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Mark all notifications that match as read */
  'POST /v1/inbox/notifications/read': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Put all notifications that match into the archive */
  'POST /v1/inbox/notifications/archive': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Put all read notifications that match into the archive */
  'POST /v1/inbox/notifications/read-archive': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** Delete all notifications that match */
  'POST /v1/inbox/notifications/delete': {
    body: {
      /** A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group */
      tags?: unknown | undefined
      /** The text of a JSON object: those whose data has all of it */
      data?: string | undefined
      /** In milliseconds since 1970; inclusive */
      createdLte?: number | undefined
    }
    answer: undefined
  }
  /** List preferences: in general, then for each workflow */
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
  /** Change the preferences in general, or the schedule */
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
  /** Retrieve the preferences in general */
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
        /** JSON Logic over the payload; decides alone */
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
      /** JSON Logic over the payload; decides alone */
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
  /** Retrieve the subscriber's time zone */
  'GET /v1/inbox/subscriber': {
    answer: {
      data: {
        subscriberId: string
        /** Absent where nobody has said; then it is UTC */
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
        /** Absent where nobody has said; then it is UTC */
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
  /** Subscribe to a topic, which is created if missing */
  'POST /v1/inbox/topics/{topicKey}/subscriptions': {
    path: {
      topicKey: string
    }
    body: {
      /** Made up where empty */
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
        /** JSON Logic over the payload; decides alone */
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
  /** Retrieve one of the subscriber's subscriptions; nothing where there is none */
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
        /** JSON Logic over the payload; decides alone */
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
  /** List the chat workspaces that are connected */
  'GET /v1/inbox/channel-connections': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      integrationIdentifier?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | undefined
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
  /** Make a URL that connects a workspace */
  'POST /v1/inbox/channel-connections/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: what the bot may do; a sensible set when absent */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also make an endpoint of the person who signs in */
      autoLinkUser?: boolean | undefined
    }
    answer: {
      data: {
        url: string
      }
    }
  }
  /** Make a URL that links a chat identity */
  'POST /v1/inbox/channel-endpoints/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: what is asked about the person; `identity.basic` when absent */
      userScope?: Array<string> | undefined
    }
    answer: {
      data: {
        url: string
      }
    }
  }
  /** Make a URL for either */
  'POST /v1/inbox/chat/oauth': {
    body: {
      integrationIdentifier: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      contextHash?: string | undefined
      /** Slack: what the bot may do; a sensible set when absent */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also make an endpoint of the person who signs in */
      autoLinkUser?: boolean | undefined
      /** Slack: what is asked about the person; `identity.basic` when absent */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      integrationIdentifier?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | undefined
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
  /** Forget a chat identity */
  'DELETE /v1/inbox/channel-endpoints/{identifier}': {
    path: {
      identifier: string
    }
    answer: undefined
  }
  /** List messages of all channels, the newest first */
  'GET /v1/messages': {
    query?: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      subscriberId?: string | undefined
      transactionId?: Array<string> | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
        /** The workflow as it is now; absent once it is deleted */
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
  /** List what triggers started, one record for each subscriber, the newest first */
  'GET /v1/notifications': {
    query?: {
      channels?: Array<string> | undefined
      /** Internal ids of workflows */
      templates?: Array<string> | undefined
      /** Identifiers of workflows */
      workflowIds?: Array<string> | undefined
      emails?: Array<string> | undefined
      /** Anywhere in the address of the subscriber, or its id. Anybody whom this, `emails` or `subscriberIds` mean is shown */
      search?: string | undefined
      subscriberIds?: Array<string> | undefined
      status?: Array<'processing' | 'completed' | 'error'> | undefined
      /** Runs with a step that did not simply complete, for one of these reasons, such as `provider_failed` */
      reasons?: Array<string> | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      transactionId?: Array<string> | undefined
      topicKey?: string | undefined
      /** The identifier of a topic subscription */
      subscriptionId?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
      contextKeys?: Array<string> | undefined
      /** ISO 8601; inclusive */
      after?: string | undefined
      /** ISO 8601; inclusive */
      before?: string | undefined
      page?: number | undefined
      limit?: number | undefined
      /** The `_id` of a record: those below it. In long lists it is quicker than `page` */
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
        /** Of the workflow, as it was when the run began */
        workflowVersion: number
        transactionId: string
        status: 'processing' | 'completed' | 'error'
        /** How far it got over all channels, and why no further */
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
          status: string
          /** Why it did not just complete, such as `preference` or `missing_email` */
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
          /** What the step sent. What a message says, and to whom, is in the single record */
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
          /** When it goes on, while it waits */
          dueAt?: string | undefined
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
  /** Count what the list would show above a record, or since a time */
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
      /** Anywhere in the address of the subscriber, or its id. Anybody whom this, `emails` or `subscriberIds` mean is shown */
      search?: string | undefined
      subscriberIds?: Array<string> | undefined
      status?: Array<'processing' | 'completed' | 'error'> | undefined
      /** Runs with a step that did not simply complete, for one of these reasons, such as `provider_failed` */
      reasons?: Array<string> | undefined
      severity?: Array<'high' | 'medium' | 'low' | 'none'> | undefined
      transactionId?: Array<string> | undefined
      topicKey?: string | undefined
      /** The identifier of a topic subscription */
      subscriptionId?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Retrieve what a trigger started for one subscriber */
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
      /** Of the workflow, as it was when the run began */
      workflowVersion: number
      transactionId: string
      status: 'processing' | 'completed' | 'error'
      /** How far it got over all channels, and why no further */
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
        status: string
        /** Why it did not just complete, such as `preference` or `missing_email` */
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
        /** What the step sent. What a message says, and to whom, is in the single record */
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
        /** When it goes on, while it waits */
        dueAt?: string | undefined
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
      /** When the trigger was accepted; the run began at `createdAt` */
      triggeredAt?: string | undefined
      createdAt: string
      updatedAt: string
    }
  }
  /** Trigger once more what this record is of, for the same subscriber */
  'POST /v1/notifications/{notificationId}/replay': {
    path: {
      notificationId: string
    }
    answer: {
      acknowledged: boolean
      status: 'error' | 'trigger_not_active' | 'no_workflow_active_steps_defined' | 'no_workflow_steps_defined' | 'processed' | 'no_tenant_found' | 'invalid_recipients'
      error?: Array<string> | undefined
      transactionId?: string | undefined
      /** The page of the dashboard that shows what came of it */
      activityFeedLink?: string | undefined
    }
  }
  /** Count runs, failures and messages over time, and how long messages took */
  'GET /v1/activity/charts': {
    query?: {
      /** ISO 8601; a day before the end unless given */
      after?: string | undefined
      /** ISO 8601; now unless given */
      before?: string | undefined
      /** Seconds; what suits the time unless given. Intervals begin at multiples of it, in UTC */
      interval?: 60 | 600 | 1800 | 3600 | 10800 | 21600 | 86400 | undefined
      /** Identifiers of workflows */
      workflowIds?: Array<string> | undefined
    }
    answer: {
      after: string
      before: string
      /** Seconds */
      interval: number
      /** All of them, also where nothing was */
      buckets: Array<{
        at: string
        /** Runs that were started */
        runs: number
        /** Those of them that have failed since */
        failed: number
        /** Messages that were made */
        messages: {
          in_app: number
          email: number
          sms: number
          chat: number
          push: number
        }
        /** From trigger to message, of runs without delay or digest; right to 6 % */
        latency?: {
          p50Ms: number
          p95Ms: number
        } | undefined
      }>
      totals: {
        /** Runs that were started */
        runs: number
        /** Those of them that have failed since */
        failed: number
        /** Messages that were made */
        messages: {
          in_app: number
          email: number
          sms: number
          chat: number
          push: number
        }
        /** From trigger to message, of runs without delay or digest; right to 6 % */
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
      /** Try the credentials at the provider first, where it allows that */
      check?: boolean | undefined
      /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
      conditions?: Array<unknown> | undefined
      configurations?: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
      } | undefined
      providerId: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic'
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
      /** Try the credentials at the provider first, where it allows that */
      check?: boolean | undefined
      /** Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer */
      conditions?: Array<unknown> | undefined
      configurations?: {
        inboundWebhookEnabled?: boolean | undefined
        inboundWebhookSigningKey?: string | undefined
        configurationSetName?: string | undefined
        inboxCount?: 'none' | 'unread' | 'unseen' | undefined
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
  /** Have the provider report deliveries to this service */
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
  /** Whether the provider of an integration can report deliveries to this service */
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
      eventTypes?: Array<'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated'> | null | undefined
      active?: boolean | undefined
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** What it is told of; null is everything */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when nothing has come through */
      failingSince: string | null
      /** Set when the service switched it off, because nothing had come through for five days */
      disabledAt: string | null
      /** Until then requests are signed with the secret before, too */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
      /** Shown this once */
      secret: string
    }
  }
  /** List webhook endpoints */
  'GET /v2/webhooks/endpoints': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
    }
    answer: {
      data: Array<{
        _id: string
        url: string
        description: string | null
        /** What it is told of; null is everything */
        eventTypes: Array<string> | null
        active: boolean
        /** Since when nothing has come through */
        failingSince: string | null
        /** Set when the service switched it off, because nothing had come through for five days */
        disabledAt: string | null
        /** Until then requests are signed with the secret before, too */
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
      /** What it is told of; null is everything */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when nothing has come through */
      failingSince: string | null
      /** Set when the service switched it off, because nothing had come through for five days */
      disabledAt: string | null
      /** Until then requests are signed with the secret before, too */
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
      eventTypes?: Array<'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated'> | null | undefined
      active?: boolean | undefined
    }
    answer: {
      _id: string
      url: string
      description: string | null
      /** What it is told of; null is everything */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when nothing has come through */
      failingSince: string | null
      /** Set when the service switched it off, because nothing had come through for five days */
      disabledAt: string | null
      /** Until then requests are signed with the secret before, too */
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
      /** What it is told of; null is everything */
      eventTypes: Array<string> | null
      active: boolean
      /** Since when nothing has come through */
      failingSince: string | null
      /** Set when the service switched it off, because nothing had come through for five days */
      disabledAt: string | null
      /** Until then requests are signed with the secret before, too */
      previousSecretExpiresAt: string | null
      createdAt: string
      updatedAt: string
      /** Shown this once */
      secret: string
    }
  }
  /** List events */
  'GET /v2/webhooks/events': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      type?: 'message.sent' | 'message.failed' | 'message.delivered' | 'message.seen' | 'message.read' | 'message.unread' | 'message.archived' | 'message.unarchived' | 'message.snoozed' | 'message.unsnoozed' | 'message.deleted' | 'workflow.created' | 'workflow.updated' | 'workflow.deleted' | 'workflow.published' | 'subscriber.created' | 'subscriber.updated' | 'subscriber.deleted' | 'preference.updated' | undefined
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
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
        /** Since it was last asked for */
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
  /** Send an event once more */
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
  /** Send an endpoint an event for trying it out */
  'POST /v2/webhooks/endpoints/{endpointId}/test': {
    path: {
      /** Its `_id` */
      endpointId: string
    }
    answer: {
      eventId: string
    }
  }
  /** Send an endpoint what happened since a time */
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
  /** Whether an integration works */
  'GET /v1/integrations/{integrationId}/health': {
    path: {
      /** Its `_id` */
      integrationId: string
    }
    answer: {
      /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next one shows whether it works again. */
      state: 'closed' | 'open' | 'half_open'
      /** In a row */
      failures: number
      error?: string | undefined
      retryAt?: string | undefined
      /** Where the addresses are the subscribers’ own, such as chat webhooks: those that do not work */
      hosts: Array<{
        host: string
        /** `closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next one shows whether it works again. */
        state: 'closed' | 'open' | 'half_open'
        /** In a row */
        failures: number
        error?: string | undefined
        retryAt?: string | undefined
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
      /** An e-mail address, a phone number, a device token, or the webhook of a chat */
      to: string
      /** Of an e-mail or push message */
      subject?: string | undefined
      content?: string | undefined
    }
    answer: {
      success: boolean
      /** What the provider calls the message */
      providerMessageId?: string | undefined
      error?: {
        /** Such as `unauthorized` or `timeout` */
        code: string
        /** What can help: to try later; another provider; other credentials; another address; or nothing, for the message is refused */
        kind: 'later' | 'failover' | 'credentials' | 'address' | 'never'
        message: string
        /** HTTP status of the answer */
        status?: number | undefined
      } | undefined
      durationMs: number
    }
  }
  /** List deliveries that were given up on, the newest first */
  'GET /v1/deliveries': {
    query?: {
      status?: 'failed' | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      reason?: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'internal' | undefined
      providerId?: string | undefined
      transactionId?: string | undefined
      subscriberId?: string | undefined
      workflowId?: string | undefined
      /** Cursor: `next` of the page before */
      after?: string | undefined
      limit?: number | undefined
    }
    answer: {
      data: Array<{
        id: string
        status: 'failed'
        channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
        reason: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'internal'
        error?: string | undefined
        providerId?: string | undefined
        /** Of the activity record that says more */
        notificationId: string
        transactionId: string
        subscriberId: string
        workflowId?: string | undefined
        stepId: string
        /** One, or as many as the subscriber has devices or chats; those that were sent are not sent again */
        destinations: Array<{
          status: 'waiting' | 'sent' | 'failed'
          /** How often a provider was asked to take it */
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
  /** Send once more what was given up on */
  'POST /v1/deliveries/{deliveryId}/redrive': {
    path: {
      deliveryId: string
    }
    answer: {
      redriven: number
    }
  }
  /** Send once more everything that matches */
  'POST /v1/deliveries/redrive': {
    body: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      reason?: 'provider_failed' | 'provider_refused' | 'outcome_unknown' | 'no_integration' | 'content_failed' | 'layout_not_found' | 'filter_failed' | 'bridge_failed' | 'internal' | undefined
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
  /** List what the sandbox has taken */
  'GET /v1/sandbox/messages': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      subscriberId?: string | undefined
      /** An address, number, device or chat */
      to?: string | undefined
      transactionId?: string | undefined
      /** Anywhere in the subject, the text, an address or the id of the subscriber */
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
  /** List how the sandbox fails at the moment */
  'GET /v1/sandbox/faults': {
    answer: Array<{
      /** Absent: for every channel that has none of its own */
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      /** For so many messages; absent: until it is taken away */
      count?: number | undefined
    }>
  }
  /** Make the sandbox fail */
  'PUT /v1/sandbox/faults': {
    body: {
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      count?: number | undefined
    }
    answer: Array<{
      /** Absent: for every channel that has none of its own */
      channel?: 'email' | 'sms' | 'chat' | 'push' | undefined
      fault: 'rate_limited' | 'timeout' | 'reset' | 'server_error' | 'bounce' | 'rejected' | 'unauthorized'
      retryAfterSeconds?: number | undefined
      /** For so many messages; absent: until it is taken away */
      count?: number | undefined
    }>
  }
  /** Let the sandbox work again */
  'DELETE /v1/sandbox/faults': {
    answer: undefined
  }
  /** List the providers there are, by channel and id */
  'GET /v1/providers': {
    query?: {
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
    }
    answer: Array<{
      /** The `providerId` of its integrations. */
      id: string
      name: string
      channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
      /** The vendor's own documentation, or ours where messages go to a server of yours. */
      docs?: string | undefined
      /** It can tell our inbound webhook what became of messages. */
      reportsDeliveries: boolean
      credentials: Array<{
        /** The member of `credentials` to store it under. */
        name: string
        label: string
        /** A string, a boolean, or an object (its JSON text is taken too). */
        type: 'text' | 'flag' | 'object'
        /** Nothing can be delivered without it; it can be saved without all the same. */
        required: boolean
        /** Stored encrypted; not to be shown while it is typed. */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** Never matches shared connections */
      subscriberId?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | undefined
      integrationIdentifier?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      subscriberId?: string | undefined
      channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | undefined
      providerId?: 'braze' | 'email-webhook' | 'emailjs' | 'infobip-email' | 'mailersend' | 'mailgun' | 'mailjet' | 'mailtrap' | 'mandrill' | 'netcore' | 'nodemailer' | 'outlook365' | 'plunk' | 'postmark' | 'resend' | 'sendgrid' | 'sendinblue' | 'ses' | 'sparkpost' | 'svc-email' | 'svc-email-agent' | 'africas-talking' | 'afro-message' | 'azure-sms' | 'bandwidth' | 'brevo-sms' | 'bulk-sms' | 'burst-sms' | 'clickatell' | 'clicksend' | 'cm-telecom' | 'eazy-sms' | 'firetext' | 'forty-six-elks' | 'generic-sms' | 'gupshup' | 'imedia' | 'infobip-sms' | 'isend-sms' | 'isendpro-sms' | 'kannel' | 'maqsam' | 'messagebird' | 'mobishastra' | 'nexmo' | 'plivo' | 'ring-central' | 'sendchamp' | 'simpletexting' | 'sinch' | 'sms-central' | 'sms77' | 'smsmode' | 'sns' | 'svc-sms' | 'telnyx' | 'termii' | 'twilio' | 'unifonic' | 'chat-webhook' | 'discord' | 'getstream' | 'grafana-on-call' | 'mattermost' | 'msteams' | 'rocket-chat' | 'ryver' | 'slack' | 'svc-slack' | 'whatsapp-business' | 'zulip' | 'apns' | 'appio' | 'expo' | 'fcm' | 'one-signal' | 'push-webhook' | 'pusher-beams' | 'pushpad' | 'svc' | 'anthropic' | undefined
      integrationIdentifier?: string | undefined
      connectionIdentifier?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
  /** Replace where a channel endpoint leads; its type stays */
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
  /** Make a URL that connects a chat workspace */
  'POST /v1/integrations/channel-connections/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId?: string | undefined
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: what the bot may do; a sensible set when absent */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also make an endpoint of the person who signs in */
      autoLinkUser?: boolean | undefined
    }
    answer: {
      url: string
    }
  }
  /** Make a URL that links a subscriber to their chat identity */
  'POST /v1/integrations/channel-endpoints/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId: string
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: what is asked about the person; `identity.basic` when absent */
      userScope?: Array<string> | undefined
    }
    answer: {
      url: string
    }
  }
  /** Make a URL for either */
  'POST /v1/integrations/chat/oauth': {
    body: {
      integrationIdentifier: string
      subscriberId?: string | undefined
      connectionIdentifier?: string | undefined
      context?: Record<string, unknown> | undefined
      /** Slack: what the bot may do; a sensible set when absent */
      scope?: Array<string> | undefined
      connectionMode?: 'subscriber' | 'shared' | undefined
      /** Also make an endpoint of the person who signs in */
      autoLinkUser?: boolean | undefined
      /** Slack: what is asked about the person; `identity.basic` when absent */
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
  /** Make a link by which the subscriber tells a bot who they are */
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
  /** Make a link by which a subscriber tells a bot who they are */
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
        /** Absent where it is left to the workflow */
        active?: boolean | undefined
        /** What is not named is left to the workflow */
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
  /** Have something else hold for a tenant than what a workflow says */
  'POST /v1/workflow-overrides': {
    body: {
      /** Identifier or internal id */
      workflowId: string
      /** Identifier or internal id */
      tenantId: string
      /** Whether triggers for this tenant run the workflow */
      active?: boolean | null | undefined
      /** Replaces what was set before */
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
      /** Absent where it is left to the workflow */
      active?: boolean | undefined
      /** What is not named is left to the workflow */
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
      /** Absent where it is left to the workflow */
      active?: boolean | undefined
      /** What is not named is left to the workflow */
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
  /** Change a workflow override; what is not given stays */
  'PUT /v1/workflow-overrides/{overrideId}': {
    path: {
      overrideId: string
    }
    body: {
      /** Whether triggers for this tenant run the workflow */
      active?: boolean | null | undefined
      /** Replaces what was set before */
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
      /** Absent where it is left to the workflow */
      active?: boolean | undefined
      /** What is not named is left to the workflow */
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
  /** Let the workflow hold for the tenant again */
  'DELETE /v1/workflow-overrides/{overrideId}': {
    path: {
      overrideId: string
    }
    answer: undefined
  }
  /** Retrieve what a tenant has set for a workflow */
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
      /** Absent where it is left to the workflow */
      active?: boolean | undefined
      /** What is not named is left to the workflow */
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
  /** Change what a tenant has set for a workflow; what is not given stays */
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
      /** Replaces what was set before */
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
      /** Absent where it is left to the workflow */
      active?: boolean | undefined
      /** What is not named is left to the workflow */
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
      /** Accepted from older callers, without effect */
      parentId?: string | undefined
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
        /** Of one that has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** List all environments of the organization */
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
        /** Of one that has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
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
        /** Of one that has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
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
        /** Of one that has been replaced */
        expiresAt?: string | undefined
        hash: string
      }>
      dns: {
        inboundParseDomain?: string | undefined
      }
      bridge: {
        url?: string | undefined
      }
      createdAt: string
      updatedAt: string
    }
  }
  /** Delete an environment with all that belongs to it */
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
      /** Of one that has been replaced */
      expiresAt?: string | undefined
    }>
  }
  /** Replace the API key of the key's environment; the old one is refused at once */
  'POST /v1/environments/api-keys/regenerate': {
    answer: Array<{
      key: string
      _userId: string
      createdAt: string
      /** Of one that has been replaced */
      expiresAt?: string | undefined
    }>
  }
  /** Add an API key to the key's environment; those it has go on working for a while */
  'POST /v1/environments/api-keys/rotate': {
    body: {
      /** How long the keys it has go on working; what is to end sooner does */
      overlapHours?: number | undefined
    }
    answer: Array<{
      key: string
      _userId: string
      createdAt: string
      /** Of one that has been replaced */
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
  /** Compare the workflows and layouts of two environments */
  'POST /v2/environments/{targetEnvironmentId}/diff': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; the Development environment when absent */
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
          resourceType: 'workflow' | 'layout'
          resourceId: string
          resourceName: string
          isBlocking: boolean
          reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW' | 'LAYOUT_EXISTS_IN_TARGET'
        }> | undefined
      }>
      summary: {
        totalEntities: number
        totalChanges: number
        hasChanges: boolean
      }
    }
  }
  /** Bring the workflows and layouts of one environment into another; nothing is deleted unless asked for */
  'POST /v2/environments/{targetEnvironmentId}/publish': {
    path: {
      targetEnvironmentId: string
    }
    body: {
      /** Where to publish from; the Development environment when absent */
      sourceEnvironmentId?: string | undefined
      /** Change nothing, and report what would happen */
      dryRun?: boolean | undefined
      /** Also delete what only the target has. Without it that is kept, and reported as skipped */
      deleteMissing?: boolean | undefined
      /** Publish only these, with the layouts that the workflows among them use. One that only the target has is deleted there */
      resources?: Array<{
        /** `workflow` or `layout`; with one of the last three, the workflow of that id or else the layout */
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
  /** Retrieve how long an environment keeps its data */
  'GET /v2/environments/{environmentId}/retention': {
    path: {
      environmentId: string
    }
    answer: {
      /** Null: as the service does */
      activityDays: number | null
      /** Null: as the service does */
      messageDays: number | null
      /** Null: as the service does */
      inboxDays: number | null
      /** What the service does where an environment says nothing */
      usual: {
        activityDays: number
        messageDays: number
        inboxDays: number
      }
    }
  }
  /** Change how long an environment keeps its data */
  'PATCH /v2/environments/{environmentId}/retention': {
    path: {
      environmentId: string
    }
    body: {
      /** How long triggers, runs and their steps are kept; 0 for ever, null as the service does */
      activityDays?: number | null | undefined
      /** The same for what was sent by e-mail, SMS, chat and push */
      messageDays?: number | null | undefined
      /** The same for what an inbox shows */
      inboxDays?: number | null | undefined
    }
    answer: {
      /** Null: as the service does */
      activityDays: number | null
      /** Null: as the service does */
      messageDays: number | null
      /** Null: as the service does */
      inboxDays: number | null
      /** What the service does where an environment says nothing */
      usual: {
        activityDays: number
        messageDays: number
        inboxDays: number
      }
    }
  }
  /** List the environment variables of the organization */
  'GET /v1/environment-variables': {
    query?: {
      /** Anywhere in the key, in any case */
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
  /** List the workflows, of any environment, whose steps use an environment variable */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** Anywhere in the key, in any case */
      key?: string | undefined
      /** Anywhere in the name, in any case */
      name?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        key: string
        name?: string | undefined
        createdAt: string
        updatedAt: string
      }>
      next: string | null
      previous: string | null
      totalCount: number
      totalCountCapped: boolean
    }
  }
  /** Create or rename a topic */
  'POST /v2/topics': {
    query?: {
      /** Leave an existing topic alone and answer 409 */
      failIfExists?: boolean | undefined
    }
    body: {
      key: string
      name?: string | undefined
    }
    answer: {
      _id: string
      key: string
      name?: string | undefined
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
      createdAt: string
      updatedAt: string
    }
  }
  /** Rename a topic */
  'PATCH /v2/topics/{topicKey}': {
    path: {
      topicKey: string
    }
    body: {
      name: string
    }
    answer: {
      _id: string
      key: string
      name?: string | undefined
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
        /** Unique in the environment; made up when absent */
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
        /** JSON Logic over the payload; decides alone */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** Exactly this subscriber */
      subscriberId?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
        /** JSON Logic over the payload; decides alone */
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
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** Exactly this topic */
      key?: string | undefined
      /** Those with exactly these contexts, each `type:id`, in any order; one empty value: those without any */
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
    body: {
      name: string
      workflowId: string
      steps: Array<{
        /** Of a step that is there already; it keeps its `stepId` */
        _id?: string | null | undefined
        stepId?: string | null | undefined
        name: string
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request'
        controlValues?: Record<string, unknown> | null | undefined
        /** False leaves it out of runs that start from now on */
        active?: boolean | null | undefined
        /** Whether its failure ends the run */
        shouldStopOnFail?: boolean | null | undefined
        /** Where answers to its e-mails go */
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
      } | null | undefined
      /** Where it is made; not kept */
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
    }
  }
  /** List workflows, without the content of their steps */
  'GET /v2/workflows': {
    query?: {
      limit?: number | undefined
      offset?: number | undefined
      orderBy?: 'createdAt' | 'updatedAt' | 'name' | 'lastTriggeredAt' | undefined
      orderDirection?: 'ASC' | 'DESC' | undefined
      /** Anywhere in name or identifier, in any case */
      query?: string | undefined
      /** Those with any of these */
      tags?: Array<string> | undefined
      /** Those with any of these */
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
        /** Empty when it never was */
        lastPublishedAt: string
        lastPublishedBy?: {
          _id: string
        } | undefined
        lastTriggeredAt?: string | undefined
        isTranslationEnabled: boolean
        stepTypeOverviews: Array<string>
        steps: Array<{
          slug: string
          type: string
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
    }
  }
  /** Replace a workflow */
  'PUT /v2/workflows/{workflowId}': {
    path: {
      /** Identifier, slug or internal id */
      workflowId: string
    }
    body: {
      name: string
      steps: Array<{
        /** Of a step that is there already; it keeps its `stepId` */
        _id?: string | null | undefined
        stepId?: string | null | undefined
        name: string
        type: 'in_app' | 'email' | 'sms' | 'chat' | 'push' | 'digest' | 'delay' | 'throttle' | 'custom' | 'http_request'
        controlValues?: Record<string, unknown> | null | undefined
        /** False leaves it out of runs that start from now on */
        active?: boolean | null | undefined
        /** Whether its failure ends the run */
        shouldStopOnFail?: boolean | null | undefined
        /** Where answers to its e-mails go */
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
      preferences: {
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
      }
      /** Accepted and not applied: a workflow keeps its origin */
      origin: 'svc-cloud' | 'svc-cloud-v1' | 'external'
      /** Applied to code-first workflows only */
      workflowId?: string | null | undefined
      description?: string | null | undefined
      tags?: Array<string> | null | undefined
      active?: boolean | null | undefined
      validatePayload?: boolean | null | undefined
      payloadSchema?: Record<string, unknown> | null | undefined
      isTranslationEnabled?: boolean | null | undefined
      severity?: 'high' | 'medium' | 'low' | 'none' | null | undefined
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
    }
  }
  /** Change the given fields of a workflow; null changes nothing */
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
      origin: string
      workflowId: string
      workflowDatabaseId: string
      active?: boolean | undefined
      shouldStopOnFail?: boolean | undefined
      /** Where answers to its e-mails go */
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
  /** Describe, as JSON Schemas, whom a trigger needs and what it takes */
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
  /** Bring a workflow into another environment of the organization */
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
      origin: string
      status: 'ACTIVE' | 'INACTIVE' | 'ERROR'
      /** Always empty: what is wrong is told step by step */
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
        origin: string
        workflowId: string
        workflowDatabaseId: string
        active?: boolean | undefined
        shouldStopOnFail?: boolean | undefined
        /** Where answers to its e-mails go */
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
    }
  }
  /** Create a layout that shows the content of the email and nothing else yet */
  'POST /v2/layouts': {
    body: {
      layoutId: string
      name: string
      isTranslationEnabled?: boolean | undefined
      /** Where it is created; not kept */
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
    }
  }
  /** List layouts, without their content */
  'GET /v2/layouts': {
    query?: {
      limit?: number | undefined
      offset?: number | undefined
      orderBy?: 'createdAt' | 'updatedAt' | 'name' | undefined
      orderDirection?: 'ASC' | 'DESC' | undefined
      /** Anywhere in name or identifier, in any case */
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
    }
  }
  /** Change a layout: its name, its content where given, whether it is translated where given */
  'PUT /v2/layouts/{layoutId}': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    body: {
      name: string
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
  /** Make a layout the default: emails that name none get it from the next message on */
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
      /** Made from the name when absent */
      layoutId?: string | undefined
      /** As the original when absent; its translations are copied */
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
    }
  }
  /** Show a layout around a placeholder for the content of the email */
  'POST /v2/layouts/{layoutId}/preview': {
    path: {
      /** Identifier, slug or internal id */
      layoutId: string
    }
    body: {
      /** Shown instead of what is stored */
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
        /** Why there is nothing to see */
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
  /** List the workflows with an email that names the layout */
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
  /** Write the texts of a workflow or layout in one locale, in place of those there are */
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
  /** List the workflows and layouts that are translated, last changed first */
  'GET /v2/translations/list': {
    query?: {
      /** Anywhere in name or identifier, in any case */
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
        /** Target locales that lack texts the default locale has, have others, or were last written before it; absent when there are none */
        outdatedLocales?: Array<string> | undefined
        createdAt: string
        updatedAt: string
      }>
      total: number
      limit: number
      offset: number
    }
  }
  /** Retrieve which locales a workflow or layout has texts in */
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
      /** Target locales that lack texts the default locale has, have others, or were last written before it; absent when there are none */
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
  /** Delete the texts of a workflow or layout in all locales and switch its translation off */
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
  /** Retrieve the settings of the organization */
  'GET /v1/organizations/settings': {
    answer: {
      /** Leave the mark of the service out of emails */
      removeSvcBranding: boolean
      /** Its texts are used where those of another locale are missing */
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
      /** Leave the mark of the service out of emails */
      removeSvcBranding: boolean
      /** Its texts are used where those of another locale are missing */
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
        /** Why there is nothing to see */
        error?: {
          title: string
          message: string
          hint: string
        } | undefined
      }
      previewPayloadExample: Record<string, unknown>
      schema: Record<string, unknown> | null
    } & Record<string, string>
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
      /** Accepted, without effect */
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
      /** Empty when it never was */
      lastPublishedAt: string
      lastPublishedBy?: {
        _id: string
      } | undefined
      lastTriggeredAt?: string | undefined
      isTranslationEnabled: boolean
      stepTypeOverviews: Array<string>
      steps: Array<{
        slug: string
        type: string
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
  /** Show what the application at the stored URL declares beside what is given */
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
  /** Ask the application how it is */
  'GET /v1/bridge/status': {
    answer: Record<string, unknown>
  }
  /** Find out whether an application answers at a URL */
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
  /** Have the application show a step */
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
  /** Find out how people can sign in */
  'GET /v1/auth/options': {
    answer: {
      /** Whether there is an owner */
      isSetUp: boolean
      /** The identity provider people can sign in with, and where that begins */
      oidc: {
        name: string
        url: string
      } | null
      password: {
        minLength: number
        maxLength: number
      }
    }
  }
  /** Find out what a link is for */
  'POST /v1/auth/links/look-up': {
    body: {
      /** What stands behind the # of the link */
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
  /** Become the owner, by the link that the first start printed */
  'POST /v1/auth/set-up': {
    body: {
      /** What stands behind the # of the link */
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
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
      }
    }
  }
  /** Sign in with email address and password */
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
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
      }
    }
  }
  /** End the session */
  'POST /v1/auth/sign-out': {
    answer: undefined
  }
  /** Choose a new password, by a link for that; all sessions end and a new one begins */
  'POST /v1/auth/password-reset': {
    body: {
      /** What stands behind the # of the link */
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
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
      }
    }
  }
  /** Go to the identity provider to sign in */
  'GET /v1/auth/oidc/start': {
    query?: {
      /** Where to go afterwards, within here */
      returnTo?: string | undefined
    }
    answer: undefined
  }
  /** Find out who is signed in */
  'GET /v1/auth/session': {
    answer: {
      user: {
        _id: string
        name: string
        email: string
        role: 'viewer' | 'editor' | 'admin' | 'owner'
        hasPassword: boolean
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
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
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
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
  /** List the people of the organization */
  'GET /v1/auth/members': {
    answer: Array<{
      _id: string
      name: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      hasPassword: boolean
      hasOidc: boolean
      isYou: boolean
      /** Null for whoever has no session now */
      lastSeenAt: string | null
      createdAt: string
    }>
  }
  /** Change a member's role */
  'PATCH /v1/auth/members/{memberId}': {
    path: {
      memberId: string
    }
    body: {
      role: 'viewer' | 'editor' | 'admin' | 'owner'
    }
    answer: {
      _id: string
      name: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      hasPassword: boolean
      hasOidc: boolean
      isYou: boolean
      /** Null for whoever has no session now */
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
  /** Make a link by which a member chooses a new password */
  'POST /v1/auth/members/{memberId}/reset-link': {
    path: {
      memberId: string
    }
    answer: {
      link: string
      expiresAt: string
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
  /** List invitations nobody has accepted */
  'GET /v1/auth/invitations': {
    answer: Array<{
      _id: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
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
    }
    answer: {
      _id: string
      email: string
      role: 'viewer' | 'editor' | 'admin' | 'owner'
      invitedBy: string
      createdAt: string
      expiresAt: string
      isExpired: boolean
      /** Shown this once */
      link: string
      mail: {
        status: 'sent' | 'not_configured' | 'failed'
        /** The name of the integration that was asked to send it */
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
      /** What stands behind the # of the link */
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
        /** Whether the identity provider has vouched for them */
        hasOidc: boolean
        createdAt: string
      }
      organization: {
        _id: string
        name: string
      }
      /** Those that can be named in `Belfry-Environment`; the first is the usual one */
      environments: Array<{
        _id: string
        name: string
        identifier: string
        type: 'dev' | 'prod'
        color: string | null
      }>
      session: {
        _id: string
        createdAt: string
        expiresAt: string
      }
    }
  }
  /** List what was administered in the organization */
  'GET /v1/audit': {
    query?: {
      /** Cursor: items behind this one */
      after?: string | undefined
      /** Cursor: items in front of this one */
      before?: string | undefined
      limit?: number | undefined
      /** ASC or DESC */
      orderDirection?: string | undefined
      /** Field to order by; the usual one when it is not known */
      orderBy?: string | undefined
      /** Make the cursor item part of the page */
      includeCursor?: boolean | undefined
      /** The whole action, or what stands before its point */
      action?: string | undefined
      /** The id of a person, or of an API key's environment */
      actor?: string | undefined
    }
    answer: {
      data: Array<{
        _id: string
        /** What was done, such as `member.role-changed` */
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
  /** Where a provider sees that the address is ours, before it reports anything */
  'GET /v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId}': {
    path: {
      /** Its `_id` */
      environmentId: string
      /** Its `_id` */
      integrationId: string
    }
    answer: string
  }
  /** Where a provider reports what became of messages */
  'POST /v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId}': {
    path: {
      /** Its `_id` */
      environmentId: string
      /** Its `_id` */
      integrationId: string
    }
    answer: Array<{
      /** What the provider calls the message */
      id: string
      event: {
        status: string
        date: string
        externalId?: string | undefined
        attempts?: number | undefined
        response?: string | undefined
        row?: unknown | undefined
      }
    }>
  }
  /** The same, at the address that older set-ups know */
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
      /** What the provider calls the message */
      id: string
      event: {
        status: string
        date: string
        externalId?: string | undefined
        attempts?: number | undefined
        response?: string | undefined
        row?: unknown | undefined
      }
    }>
  }
  /** Where a vendor brings what is said to a bot */
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
