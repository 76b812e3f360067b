# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
SRQ traffic on the base classes of rdma-core's test suite, whose own SRQ tests
all need ODP, parent domains or tag matching. pyverbs.sh puts this beside them.
"""

import pyverbs.enums as e
from pyverbs.srq import SrqAttr
from tests.base import RCResources, UDResources, RDMATestCase
import tests.utils as u


class SrqTestCase(RDMATestCase):
    def setUp(self):
        super().setUp()
        self.iters = 100

    def traffic(self, resource, **kwargs):
        args = dict(dev_name=self.dev_name, ib_port=self.ib_port,
                    gid_index=self.gid_index, with_srq=True, **kwargs)
        self.client, self.server = resource(**args), resource(**args)
        self.client.pre_run(self.server.psns, self.server.qps_num)
        self.server.pre_run(self.client.psns, self.client.qps_num)
        u.traffic(self.client, self.server, self.iters, self.gid_index, self.ib_port)
        return self.server.srq

    def test_rc_traffic(self):
        self.traffic(RCResources)

    def test_rc_traffic_many_qps(self):
        self.traffic(RCResources, qp_count=16)

    def test_ud_traffic(self):
        self.traffic(UDResources, qp_count=4)

    def test_resize_under_traffic(self):
        srq = self.traffic(RCResources, qp_count=2)
        srq.modify(SrqAttr(max_wr=4000), e.IBV_SRQ_MAX_WR)
        u.traffic(self.client, self.server, self.iters, self.gid_index, self.ib_port)
        srq.modify(SrqAttr(srq_limit=5), e.IBV_SRQ_LIMIT)
        self.assertEqual(srq.query().max_wr, 4095)
        self.assertEqual(srq.query().srq_limit, 5)
